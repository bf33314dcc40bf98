/** Run by `npm ci` (package.json, postinstall): makes the cluster that first starts copy. */
import { mkdir } from "node:fs/promises";
import { prepareCluster } from "./data-directory.ts";
import { templateDirectory } from "./template.ts";

const directory = templateDirectory();
try {
  await mkdir(directory, { recursive: true });
  await prepareCluster(directory, { template: undefined });
} catch (error) {
  // A first start then makes its own cluster, some seconds slower: no reason to fail an installation.
  process.stderr.write(`The database template was not made: ${String(error)}\n`);
}
