import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { type Block, blocksOf, Reader } from "./support/pages.ts";
import { freePort } from "./support/ports.ts";
import { cacheFolder, needs, wants } from "./support/tools.ts";

const root = path.join(import.meta.dirname, "..");

/** Does what a page says, block by block: files are written, commands run, and what is shown below one is part of what it says. */
async function follow(reader: Reader, blocks: readonly Block[]): Promise<string> {
  let last = "";
  let all = "";
  for (const block of blocks) {
    if (block.language === "sh") {
      const { code, out, err } = await reader.run(block.text);
      assert.equal(code, 0, `${block.text}\n${out}\n${err}`);
      last = out + err;
      all += last;
    } else if (block.language === "text") {
      for (const line of block.text.trimEnd().split("\n"))
        assert.ok(last.includes(line), `${line}\nis not in\n${last}`);
    } else await reader.keep(block);
  }
  return all;
}

suite("docs/guides", { ...needs("kubectl") }, () => {
  test("test-an-operator.md shows the example's own lines, its commands pass, and its types are right", async () => {
    const blocks = await blocksOf("docs/guides/test-an-operator.md");
    const example = await readFile(path.join(root, "examples", "operator", "operator.test.ts"), "utf8");
    const isNamed = ({ text }: Block) => text.startsWith("// ");
    const shown = blocks.filter((block) => block.language === "ts" && !isNamed(block));
    assert.ok(shown.length >= 6);
    for (const { text } of shown) assert.ok(example.includes(text), `${text}\nis not in the example`);
    await using reader = await Reader.open();
    const said = await follow(
      reader,
      blocks.filter((block) => block.language === "sh" || isNamed(block)),
    );
    assert.match(said, /pass 1$/m);
    assert.match(said, /pass 27$/m);
    const [config] = blocks.filter(({ language }) => language === "json");
    await reader.write("tsconfig.json", config?.text ?? "");
    await reader.write("package.json", '{ "type": "module" }');
    const packages = path.join(root, "node_modules");
    const tsc = `"${process.execPath}" "${path.join(packages, "typescript", "bin", "tsc")}"`;
    // The sources, which are checked as well, are not written for browsers.
    const flags = `--customConditions binnacle-source --lib esnext --types node --typeRoots "${path.join(packages, "@types")}"`;
    const { code, out } = await reader.run(`${tsc} ${flags}`);
    assert.equal(code, 0, out);
  });

  test("ci.md", async () => {
    await using reader = await Reader.open();
    const said = await follow(reader, await blocksOf("docs/guides/ci.md"));
    assert.match(said, /^settings +1/m);
    assert.match(said, /^1$/m, "the report has one object");
  });

  test("simulated-nodes.md: the program runs", async () => {
    await using reader = await Reader.open();
    const programs = (await blocksOf("docs/simulated-nodes.md")).filter(({ language }) => language === "ts");
    assert.equal(programs.length, 1);
    await reader.write("program.ts", programs[0]?.text ?? "");
    const { code, err } = await reader.run("node program.ts");
    assert.equal(code, 0, err);
  });

  test("security.md", async () => {
    await using reader = await Reader.open();
    try {
      const said = await follow(reader, await blocksOf("docs/guides/security.md"));
      assert.match(said, /^yes\nno\n/m);
      assert.match(said, /^refused: not restricted enough$/m);
      assert.match(said, /violates PodSecurity "restricted/);
    } finally {
      await reader.run("binnacle down || true");
    }
  });
});

/** The blocks of a section of languages.md. */
async function section(language: string): Promise<Block[]> {
  const blocks = await blocksOf("docs/guides/languages.md");
  const start = blocks.findIndex((block) => block.language === language);
  return blocks.slice(start, start + 2);
}

/** With which Java programs find the client, where `npm run compare clients` has fetched it. */
const CLASSPATH = path.join(cacheFolder(), "clients", "fabric8", "classpath");
const hasJava = existsSync(CLASSPATH) && spawnSync("java", ["-version"]).status === 0;

suite("docs/guides/languages.md", { ...needs("kubectl") }, () => {
  test("Python", wants("python-client"), async () => {
    await using reader = await Reader.open("python-client");
    await reader.provide("python3", "python-client");
    assert.match(await follow(reader, await section("python")), /^default\nfrom-python\nkube-node-lease\n/m);
  });

  test("Go", needs("go"), async () => {
    await using reader = await Reader.open();
    const [source, commands] = await section("go");
    assert.ok(source && commands);
    const [build = "", run = ""] = commands.text.split("\n");
    await reader.keep(source);
    await buildOnce(reader, build, source.text);
    assert.match(await follow(reader, [{ language: "sh", text: run }]), /^default\nkube-node-lease\n/m);
  });

  test("Java", {
    skip: hasJava
      ? undefined
      : "the Java program is missing, which CI need not have: run npm run compare clients -- fabric8",
  }, async () => {
    await using reader = await Reader.open();
    reader.env.CLASSPATH = await readFile(CLASSPATH, "utf8");
    assert.match(await follow(reader, await section("java")), /^default\nkube-node-lease\n/m);
  });

  test("any other", async () => {
    await using reader = await Reader.open();
    const { text = "" } = (await blocksOf("docs/guides/languages.md")).at(-1) ?? {};
    assert.match(text, /--insecure-port 8001/);
    // A port of a test is one that the system chose.
    const commands = { language: "sh", text: text.replaceAll("8001", String(await freePort())) };
    assert.match(await follow(reader, [commands]), /"gitVersion": "v1\.37/);
  });
});

/** Builds a Go program of the modules that kubectl is built of, unless it has been built before. */
async function buildOnce(reader: Reader, command: string, source: string): Promise<void> {
  const pins = ["go.mod", "go.sum"].map((name) => path.join(root, "tools", "kubernetes", name));
  const hash = createHash("sha256").update(source);
  for (const file of pins) hash.update(await readFile(file));
  const program = path.join(cacheFolder(), "guides", hash.digest("hex").slice(0, 16));
  const built = path.join(reader.folder, "names");
  if (!existsSync(program)) {
    for (const file of pins) await copyFile(file, path.join(reader.folder, path.basename(file)));
    const { HOME, PATH } = process.env;
    const env = { ...reader.env, HOME, PATH, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly" };
    await promisify(execFile)("sh", ["-ec", command], { cwd: reader.folder, env });
    await mkdir(path.dirname(program), { recursive: true });
    await copyFile(built, `${program}.${process.pid}`);
    await rename(`${program}.${process.pid}`, program);
  }
  await copyFile(program, built);
}
