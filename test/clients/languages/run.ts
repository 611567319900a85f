import { spawnSync } from "node:child_process";
import { startBinnacle } from "../../support/binnacle.ts";
import { CLIENT_PROGRAMS, type ClientProgram, folderOf } from "./programs.ts";

/**
 * `npm run clients [-- python …]`: small programs with the clients of other languages, each against a server of its own.
 * A language whose tools the machine lacks, or whose packages cannot be fetched, is named and left out.
 */
const chosen = process.argv.slice(2);
const programs = CLIENT_PROGRAMS.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
const TIME_LIMIT_MS = 180_000;

async function journey(program: ClientProgram): Promise<string> {
  const missing = program.toolchain.filter((tool) => spawnSync("which", [tool]).status !== 0);
  if (missing.length > 0) return `not run: ${missing.join(", ")} is missing`;
  const folder = await folderOf(program);
  try {
    await program.fetch(folder);
  } catch (error) {
    return `not run, since its packages cannot be fetched: ${(error as Error).message.slice(0, 2000)}`;
  }
  const [file, ...args] = await program.build(folder);
  const server = await startBinnacle({ flags: ["--controllers=*"] });
  try {
    const began = performance.now();
    const { status, stdout, stderr } = spawnSync(file, args, {
      env: { ...process.env, KUBECONFIG: server.kubeconfig },
      encoding: "utf8",
      timeout: TIME_LIMIT_MS,
    });
    const steps = stdout.split("\n").filter((line) => line.startsWith("ok ")).length;
    if (status === 0) return `${steps} steps in ${Math.round(performance.now() - began)} ms`;
    process.exitCode = 1;
    return `FAILED after ${steps} steps\n${stdout}\n${stderr}`;
  } finally {
    await server.kill();
  }
}

if (programs.length === 0) throw new Error(`known are: ${CLIENT_PROGRAMS.map(({ name }) => name).join(", ")}`);
for (const program of programs) process.stdout.write(`${program.name}: ${await journey(program)}\n`);
