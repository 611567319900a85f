import { DEFAULT_CONTROLLERS } from "../../../src/cluster/controllers/manager/default-controllers.ts";
import { startBinnacle } from "../../support/binnacle.ts";
import { isMissing } from "../../support/tools.ts";
import { travel } from "./journey.ts";
import { CLIENT_PROGRAMS, type ClientProgram, FetchError, prepare } from "./programs.ts";

/**
 * `npm run compare clients [-- python …]`: small programs with the clients of other languages, each against a server of its own.
 * A language whose tools the machine lacks, or whose packages cannot be fetched, is named and left out.
 */
const chosen = process.argv.slice(2);
const programs = CLIENT_PROGRAMS.filter(({ name }) => chosen.length === 0 || chosen.includes(name));

async function journey(program: ClientProgram): Promise<string> {
  const missing = program.toolchain.filter(isMissing);
  if (missing.length > 0) return `not run: ${missing.join(", ")} is missing`;
  const command = await prepare(program).catch((error: unknown) => {
    if (error instanceof FetchError) return error;
    throw error;
  });
  if (command instanceof FetchError) return `not run, since its packages cannot be fetched: ${command.message}`;
  const server = await startBinnacle({ flags: [`--controllers=${DEFAULT_CONTROLLERS}`] });
  try {
    const began = performance.now();
    const { isComplete, steps, output } = await travel(command, server.kubeconfig);
    if (isComplete) return `${steps} steps in ${Math.round(performance.now() - began)} ms`;
    process.exitCode = 1;
    return `FAILED after ${steps} steps\n${output}`;
  } finally {
    await server.kill();
  }
}

if (programs.length === 0) throw new Error(`known are: ${CLIENT_PROGRAMS.map(({ name }) => name).join(", ")}`);
for (const program of programs) process.stdout.write(`${program.name}: ${await journey(program)}\n`);
