import assert from "node:assert/strict";
import { copyFile, readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "./support/binnacle.ts";
import { type Block, blocksOf, Reader } from "./support/pages.ts";
import { needs } from "./support/tools.ts";

suite("docs/what-if.md", { ...needs("kubectl") }, () => {
  let reader: Reader;
  let server: RunningBinnacle;
  let blocks: Block[];

  before(async () => {
    blocks = await blocksOf("docs/what-if.md");
    reader = await Reader.open();
    server = await startBinnacle({ flags: ["--custom-objects=defined"] });
    await copyFile(server.kubeconfig, path.join(reader.folder, "kubeconfig"));
  });
  after(async () => {
    await server?.kill();
    await reader?.[Symbol.asyncDispose]();
  });

  test("every file and command of the page does what it says", async () => {
    let last = "";
    let compared = 0;
    for (const block of blocks) {
      const { language, text } = block;
      if (language === "yaml") {
        await reader.keep(block);
      } else if (language === "sh") {
        const { code, out, err } = await reader.run(text);
        const isRefused = text.startsWith("binnacle diff -f manifests/ --state dump.yaml\n");
        assert.equal(code, isRefused ? 2 : 0, `${text}\n${out}\n${err}`);
        last = out;
      } else {
        assert.equal(last.replace(/"\d{4}-\d\d-\d\dT[\d:]+Z"/g, '"2026-01-01T00:00:00Z"'), text);
        compared++;
      }
    }
    assert.equal(compared, 1, "the output is on the page");
    const report = await readFile(path.join(reader.folder, "report.xml"), "utf8");
    assert.match(report, /tests="2" failures="1"/);
  });
});
