import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";

const root = path.join(import.meta.dirname, "..");
const source = (file: string) => pathToFileURL(path.join(root, "src", file)).href;
const PACKAGES: Readonly<Record<string, string>> = {
  binnacle: source("index.ts"),
  "binnacle/testing": source("testing.ts"),
};

const pages = ["docs/library.md", "README.md"].map((page) => readFile(path.join(root, page), "utf8"));
const text = (await Promise.all(pages)).join("\n");
const examples = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);

/** What a program says is collected instead of printed, and compared with the comments that follow. */
interface Said {
  readonly expected: readonly string[];
  readonly code: string;
}

function prepared(code: string): Said {
  const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map(([, told = ""]) => told);
  const linked = code.replaceAll(/ from "(binnacle[^"]*)"/g, (whole, name: string) => {
    const target = PACKAGES[name];
    return target === undefined ? whole : ` from ${JSON.stringify(target)}`;
  });
  return {
    expected,
    code: `const said: string[] = [];\nconst console = { log: (line: unknown) => void said.push(String(line)) };\n${linked}\nexport { said };\n`,
  };
}

suite("docs/library.md and README.md", () => {
  let folder = "";
  before(async () => {
    await mkdir(path.join(root, ".cache"), { recursive: true });
    folder = await mkdtemp(path.join(root, ".cache", "docs-library-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("has examples", () => assert.ok(examples.length > 1));

  for (const [index, example] of examples.entries()) {
    test(`example ${index + 1} does what it says`, async () => {
      const { expected, code } = prepared(example);
      const file = path.join(folder, `example-${index + 1}.ts`);
      await writeFile(file, code);
      const { said } = (await import(pathToFileURL(file).href)) as { said: string[] };
      const told = said.join("\n");
      for (const line of expected) assert.ok(told.includes(line), `${line}\nwas not said, but\n${told}`);
    });
  }
});
