import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import packageJson from "../package.json" with { type: "json" };
import { record, terminalSvg } from "../tools/terminal.ts";
import { blocksOf } from "./support/pages.ts";
import { cacheFolder, needs } from "./support/tools.ts";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "..");
const MAX_INSTALLED_BYTES = 15 * 1024 * 1024;
const INSTALL = "npm install binnacle\n";

/** The shell commands of a page, those of one block together. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map((name) => stat(path.join(folder, name))));
  return sizes.reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);
}

/** Dependencies of a package as npm would put them beside it: all are found in the project's own folder. */
async function dependenciesOf(names: readonly string[]): Promise<string[]> {
  const found = new Set(names);
  for (const name of found) {
    const text = await readFile(path.join(root, "node_modules", name, "package.json"), "utf8");
    for (const inner of Object.keys(JSON.parse(text).dependencies ?? {})) found.add(inner);
  }
  return [...found];
}

suite("the package, from an empty folder", { ...needs("kubectl") }, () => {
  let folder = "";
  let files: readonly string[] = [];
  let env: NodeJS.ProcessEnv = {};
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-readme-"));
    const programs = [path.dirname(process.execPath), process.env.PATH].join(path.delimiter);
    const own = { env: { ...process.env, PATH: programs }, cwd: root };
    await run("npm", ["run", "build"], own);
    const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], own);
    const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    files = packed.files.map((file) => file.path);
    // What npm install does, without asking the registry what it knows of the dependencies.
    const modules = path.join(folder, "node_modules");
    await mkdir(path.join(modules, ".bin"), { recursive: true });
    await run("tar", ["-xzf", path.join(folder, packed.filename), "-C", modules]);
    await run("mv", [path.join(modules, "package"), path.join(modules, "binnacle")]);
    for (const name of await dependenciesOf(Object.keys(packageJson.dependencies))) {
      await cp(path.join(root, "node_modules", name), path.join(modules, name), { recursive: true, dereference: true });
    }
    await symlink(path.join("..", "binnacle", packageJson.bin.binnacle), path.join(modules, ".bin", "binnacle"));
    await mkdir(path.join(folder, "programs"));
    await symlink(path.join(cacheFolder(), "bin", "kubectl"), path.join(folder, "programs", "kubectl"));
    await writeFile(path.join(folder, "programs", "npx"), 'exec env npm_config_user_agent=npm/11 "$@"\n', {
      mode: 0o755,
    });
    const { KUBECONFIG: _, BINNACLE_DATA_DIR: __, ...rest } = process.env;
    const PATH = [path.join(folder, "programs"), path.join(modules, ".bin"), programs].join(path.delimiter);
    env = { ...rest, PATH, HOME: folder };
  });
  after(async () => {
    await shell("binnacle down").catch(() => {});
    await rm(folder, { recursive: true, force: true });
  });

  const say = async (commands: string) => {
    const child = spawn("sh", ["-e", "-c", commands], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const said = { out: "", err: "", all: "" };
    for (const [name, stream] of [["out", child.stdout] as const, ["err", child.stderr] as const]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        said[name] += chunk;
        said.all += chunk;
      });
    }
    const [code] = await once(child, "close");
    return { code, ...said };
  };
  /** Fails with what was written as soon as a command fails. */
  const shell = async (commands: string) => {
    const { code, all } = await say(commands);
    assert.equal(code, 0, `${commands}\n${all}`);
    return all;
  };

  test("has nothing but what it needs: no maps without sources, no scripts, no link that leads out of it", async () => {
    assert.deepEqual(
      files.filter((file) => file.endsWith(".map") || /^dist.*\.(test|suite)\./.test(file)),
      [],
    );
    for (const script of ["preinstall", "install", "postinstall", "prepare"]) {
      assert.ok(!(script in packageJson.scripts), script);
    }
    const pages = files.filter((file) => file.endsWith(".md") && !file.startsWith("dist/"));
    assert.ok(pages.includes("README.md") && pages.includes("docs/first-hour.md") && pages.includes("SECURITY.md"));
    const installed = path.join(folder, "node_modules", "binnacle");
    for (const page of pages) {
      const text = await readFile(path.join(installed, page), "utf8");
      for (const [, link = ""] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
        const target = path.join(path.dirname(page), link);
        const isThere = files.some((file) => file === target || file.startsWith(`${target.replace(/\/$/, "")}/`));
        assert.ok(isThere, `${page} links to ${link}, which is not in the package`);
      }
    }
  });

  test("takes less than 15 MB with its dependencies", async (t) => {
    const bytes = await sizeOf(path.join(folder, "node_modules"));
    t.diagnostic(`${(bytes / 1024 / 1024).toFixed(1)} MB`);
    assert.ok(bytes < MAX_INSTALLED_BYTES, `${bytes} bytes`);
  });

  test("the commands at the top of the README work, and tell how long they took", async (t) => {
    const first = (await blocksOf("README.md")).find(({ language }) => language === "sh")?.text ?? "";
    assert.ok(first.startsWith(INSTALL), first);
    const began = performance.now();
    const said = await shell(first.slice(INSTALL.length));
    t.diagnostic(`up and a rollout: ${Math.round(performance.now() - began)} ms`);
    assert.match(said, /successfully rolled out\n/);
    assert.equal(said.match(/^web-\S+ +1\/1 +Running /gm)?.length, 3, said);
    await shell("binnacle down");
    await shell("binnacle reset");
    const again = performance.now();
    await shell(first.slice(INSTALL.length));
    t.diagnostic(`the second time: ${Math.round(performance.now() - again)} ms`);
    await shell("binnacle down");
    await shell("binnacle reset");
  });

  test("the recording of the README is what is said; node tools/terminal.ts makes it anew", async () => {
    const screens = await record(say);
    await shell("binnacle down");
    await shell("binnacle reset");
    assert.equal(terminalSvg(screens, folder), await readFile(path.join(root, "docs", "terminal.svg"), "utf8"));
  });

  test("the first hour works", async () => {
    const blocks = await blocksOf("docs/first-hour.md");
    assert.ok(blocks.length >= 8);
    const said: string[] = [];
    for (const { language, text } of blocks) {
      if (language === "sh") said.push(await shell(text.replace(INSTALL, "")));
      else for (const line of text.trimEnd().split("\n")) assert.ok(said.at(-1)?.includes(line), line);
    }
    const all = said.join("");
    for (const expected of [
      /alice may not/,
      /Invalid value: "Colors"[\s\S]*refused: no capital letters/,
      /fruit\/apple created/,
      /nothing is free[\s\S]*refused: nothing is free/,
      /exceeded quota: few[\s\S]*refused: the quota is used up/,
      /namespace "short" deleted/,
      /node-1 +Ready[\s\S]*successfully rolled out[\s\S]*web-.* Running[\s\S]*Controlled By: +ReplicaSet/,
      /rolled back[\s\S]*successfully rolled out[\s\S]*^2 +<none>\n3 +<none>$/m,
      /service\/web .* 198\.18\.0\.\d+/,
      /job\.batch\/once condition met[\s\S]*pod\/once-\S+ +0\/1 +Completed/,
      /^web-\S+ +90m +/m,
      /Deployment\/web +cpu: \d+%\/50% +3 +10 +[36][\s\S]*New size: 6; reason: cpu resource utilization/,
      /node\/node-1 drained[\s\S]*successfully rolled out[\s\S]*web-.* Running .* node-2 .*\n[\s\S]*node-1 uncordoned/,
      /node\/node-3 condition met/,
      /Deleted .*binnacle-data/,
    ]) {
      assert.match(all, expected);
    }
  });
});
