/** Loaded before the program by the npm scripts: reads `.env`. Node's own flag prints a line where there is none. */
import { loadEnvFile } from "node:process";

try {
  loadEnvFile();
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
