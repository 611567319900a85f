import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "./support/binnacle.ts";
import { needs, requireTool } from "./support/tools.ts";

const root = path.join(import.meta.dirname, "..");

interface Block {
  readonly language: string;
  readonly text: string;
}

suite("docs/what-if.md", { ...needs("kubectl"), timeout: 300_000 }, () => {
  let folder: string;
  let server: RunningBinnacle;
  let blocks: Block[];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-docs-what-if-"));
    const page = await readFile(path.join(root, "docs", "what-if.md"), "utf8");
    const found = page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
    blocks = Array.from(found, ([, language = "", text = ""]) => ({ language, text }));
    server = await startBinnacle({ flags: ["--custom-objects=defined"] });
    await copyFile(server.kubeconfig, path.join(folder, "kubeconfig"));
    await writeProgram("binnacle", `"${process.execPath}" "${path.join(root, "src", "cli.ts")}"`);
    await writeProgram("kubectl", `"${requireTool("kubectl")}" --cache-dir="${path.join(folder, "cache")}"`);
  });
  after(async () => {
    await server?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  async function writeProgram(name: string, command: string): Promise<void> {
    const file = path.join(folder, "bin", name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `#!/bin/sh\nexec ${command} "$@"\n`);
    await chmod(file, 0o755);
  }

  async function run(command: string): Promise<{ code: number; out: string; err: string }> {
    const env = { ...process.env, PATH: `${path.join(folder, "bin")}:${process.env.PATH}` };
    const child = spawn("sh", ["-ec", command], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    const [code] = await once(child, "close");
    return { code, out: await out, err: await err };
  }

  async function collect(stream: NodeJS.ReadableStream): Promise<string> {
    let text = "";
    for await (const chunk of stream.setEncoding("utf8")) text += chunk;
    return text;
  }

  test("every file and command of the page does what it says", async () => {
    let last = "";
    let compared = 0;
    for (const { language, text } of blocks) {
      if (language === "yaml") {
        const [, name = ""] = /^# (\S+)\n/.exec(text) ?? [];
        const file = path.join(folder, name);
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, text);
      } else if (language === "sh") {
        const { code, out, err } = await run(text);
        const isRefused = text.startsWith("binnacle diff -f manifests/ --state dump.yaml\n");
        assert.equal(code, isRefused ? 2 : 0, `${text}\n${out}\n${err}`);
        last = out;
      } else {
        assert.equal(last.replace(/"\d{4}-\d\d-\d\dT[\d:]+Z"/g, '"2026-01-01T00:00:00Z"'), text);
        compared++;
      }
    }
    assert.equal(compared, 1, "the output is on the page");
    const report = await readFile(path.join(folder, "report.xml"), "utf8");
    assert.match(report, /tests="2" failures="1"/);
  });
});
