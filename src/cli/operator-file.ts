import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where a running server with an embedded database can be reached by the command line beside it. */
export interface OperatorAddress {
  readonly url: string;
  readonly token: string;
}

const fileIn = (dataDir: string) => join(dataDir, "operator.json");

/** Readable by the server's own user alone: whoever reads it is the operator. */
export function writeOperatorFile(dataDir: string, address: OperatorAddress): void {
  // Made anew: the mode is only that of a file which did not exist.
  removeOperatorFile(dataDir);
  writeFileSync(fileIn(dataDir), JSON.stringify(address), { mode: 0o600, flag: "wx" });
}

/** The address of the last server that ran here; it may be gone, and another program may answer in its place. */
export function readOperatorFile(dataDir: string): OperatorAddress | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), "utf8")) as OperatorAddress;
  } catch {
    return undefined;
  }
}

export function removeOperatorFile(dataDir: string): void {
  rmSync(fileIn(dataDir), { force: true });
}
