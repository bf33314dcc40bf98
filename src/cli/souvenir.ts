import { readConfig } from "../config.ts";
import { readCommand } from "./command.ts";
import { type Answer, connect } from "./operator.ts";
import { explain, withHint } from "./reason.ts";
import { USAGE, usageOf } from "./usage.ts";
import { UsageError } from "./usage-error.ts";

function print({ status, body }: Answer): void {
  if (status >= 400) {
    const { detail, hint } = body as { detail?: string; hint?: string };
    throw new Error(withHint(detail ?? `the server answered ${status}`, hint));
  }
  if (status !== 204) process.stdout.write(`${JSON.stringify(body, null, 2)}\n`);
  if (typeof body.key === "string") {
    process.stderr.write("The key is shown only this once. Keep it safe.\n");
  }
  if (Array.isArray(body.unsetVariables) && body.unsetVariables.length > 0) {
    process.stderr.write(
      `Not set: ${body.unsetVariables.join(", ")}. What needs them does nothing until the server runs with them in its environment.\n`,
    );
  }
}

async function main(args: string[]): Promise<void> {
  const command = readCommand(args);
  if (command.kind === "help") {
    process.stdout.write(USAGE);
    return;
  }
  if (command.kind === "serve") {
    const { serve } = await import("./serve.ts");
    return serve(process.env);
  }
  const operator = await connect(
    readConfig(process.env),
    command.org,
    (variable) => process.env[variable],
  );
  try {
    if (command.kind === "export") {
      const { runExport } = await import("./export.ts");
      await runExport(operator, command.request, process);
    } else if (command.kind === "import") {
      const { runImport } = await import("./import.ts");
      await runImport(operator, command.request, process);
    } else if (command.kind === "erase") {
      const { runErase } = await import("./erase.ts");
      await runErase(operator, command.request, process);
    } else {
      print(await operator.request(...command.request));
    }
  } finally {
    await operator.close();
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  if (error instanceof UsageError) process.stderr.write(`\n${usageOf(process.argv[2])}`);
  process.exitCode = 1;
}
