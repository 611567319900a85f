import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test } from "node:test";
import { findDescription } from "./descriptions.ts";
import { documentDescriptions, openDescriptions } from "./document-descriptions.ts";

const POD = "io.k8s.api.core.v1.Pod";
const schemas = {
  [POD]: { description: "Their pod.", properties: { spec: { description: "Their spec." }, status: {} } },
  Odd: { description: 3, properties: [] },
  Odder: null,
};

suite("descriptions of an OpenAPI document", () => {
  test("are found in both versions of OpenAPI", () => {
    for (const document of [{ definitions: schemas }, { components: { schemas } }]) {
      const find = documentDescriptions(JSON.stringify(document));
      assert.equal(find(POD), "Their pod.");
      assert.equal(find(POD, "spec"), "Their spec.");
      assert.equal(find(POD, "status"), undefined);
      assert.equal(find("Odd"), undefined);
      assert.equal(find("constructor", "name"), undefined);
    }
  });

  test("take precedence over our own", async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-descriptions-"));
    t.after(() => rm(folder, { recursive: true }));
    const file = path.join(folder, "openapi.json");
    await writeFile(file, JSON.stringify({ definitions: schemas }));
    const find = await openDescriptions(file);
    assert.equal(find(POD), "Their pod.");
    assert.equal(find(POD, "status"), findDescription(POD, "status"));
    assert.notEqual(find(POD, "status"), undefined);
    for (const [text, message] of [
      ["[]", /--openapi-descriptions .*openapi.json: has neither definitions nor components.schemas/],
      ["{", /--openapi-descriptions .*openapi.json: .*JSON/],
    ] as const) {
      await writeFile(file, text);
      await assert.rejects(openDescriptions(file), message);
    }
    await assert.rejects(openDescriptions(path.join(folder, "none")), /--openapi-descriptions .*none: ENOENT/);
  });
});
