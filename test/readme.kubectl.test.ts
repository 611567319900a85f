import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { needs, requireTool } from "./support/tools.ts";

const root = path.join(import.meta.dirname, "..");

/** The commands of the first shell block. */
async function firstCommands(): Promise<string[]> {
  const readme = await readFile(path.join(root, "README.md"), "utf8");
  const block = /```sh\n([^`]+)```/.exec(readme)?.[1] ?? "";
  return block.trim().split("\n");
}

test("the three commands at the top of the README work", { timeout: 120_000, ...needs("kubectl") }, async (t) => {
  const commands = await firstCommands();
  assert.equal(commands.length, 3);
  const [build = "", serve = "", kubectl = ""] = commands;

  // The tree that runs this test is installed already; what is left of the first command is the build.
  assert.match(build, /^npm ci && npm run build$/);
  const environment = { ...process.env, PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` };
  assert.equal(await run("npm run build", root, environment), 0);

  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-readme-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const server = spawn(
    process.execPath,
    [...serve.replace("dist/cli.js", path.join(root, "dist/cli.js")).split(" ").slice(1), "--secure-port=0"],
    {
      cwd: directory,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  t.after(() => server.kill());
  let text = "";
  for await (const chunk of server.stdout.setEncoding("utf8")) {
    text += chunk;
    if (text.includes("Connect with: ")) break;
  }
  assert.ok(text.includes(kubectl), `the server should name the third command:\n${text}`);
  const command = kubectl.replace(/^kubectl/, requireTool("kubectl"));
  assert.equal(await run(command, directory, environment), 0);
});

async function run(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn("sh", ["-c", command], { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  return code as number;
}
