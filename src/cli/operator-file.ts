import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where a running server with an embedded database can be reached by the command line beside it. */
export interface OperatorAddress {
  readonly url: string;
  readonly token: string;
}

const fileIn = (dataDir: string) => join(dataDir, "operator.json");

/** Readable by the server's own user alone: whoever reads it is the operator. */
export async function writeOperatorFile(dataDir: string, address: OperatorAddress): Promise<void> {
  const file = fileIn(dataDir);
  await rm(file, { force: true });
  await writeFile(file, JSON.stringify(address), { mode: 0o600, flag: "wx" });
  await chmod(file, 0o600);
}

export async function readOperatorFile(dataDir: string): Promise<OperatorAddress | undefined> {
  try {
    return JSON.parse(await readFile(fileIn(dataDir), "utf8")) as OperatorAddress;
  } catch {
    return undefined;
  }
}

export async function removeOperatorFile(dataDir: string): Promise<void> {
  await rm(fileIn(dataDir), { force: true });
}
