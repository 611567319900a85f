import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { startBinnacle } from "./support/binnacle.ts";
import { clientFor } from "./support/client.ts";
import { tokens } from "./support/oracle.ts";
import { eventually } from "./support/time.ts";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "..");
/** The package's own name leads to the sources. */
const SOURCES = "--conditions=binnacle-source";

suite("the examples", () => {
  test("pass their tests", async () => {
    const files = ["examples/shop/shop.test.ts", "examples/operator/operator.test.ts"];
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = await run(process.execPath, [SOURCES, "--test", ...files], { cwd: root, env });
    assert.match(stdout, /pass 31$/m);
  });

  test("a kind in TypeScript is served by serve --kinds", async () => {
    const kinds = path.join(root, "examples", "shop", "kinds.ts");
    const server = await startBinnacle({ flags: [`--kinds=${kinds}`], nodeFlags: [SOURCES] });
    try {
      const client = clientFor(server.base, tokens.admin);
      const apiPath = "/apis/shop.example/v1/namespaces/default/orders";
      await eventually(async () => (await client.call("GET", apiPath)).status === 200);
      const spec = { items: [{ product: "tea", count: 2 }] };
      const metadata = { name: "one" };
      const order = { apiVersion: "shop.example/v1", kind: "Order", metadata, spec };
      const { status, body } = await client.call("POST", apiPath, order);
      assert.equal(status, 201);
      assert.deepEqual(body.status, { phase: "Received", totalCents: 900 });
    } finally {
      await server.kill();
    }
  });
});

suite("types of kinds", () => {
  let folder = "";
  before(async () => {
    await mkdir(path.join(root, ".cache"), { recursive: true });
    folder = await mkdtemp(path.join(root, ".cache", "types-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("a field that the schema has not is an error of the compiler", async () => {
    const kind = (hooks: string) => `
      import { defineKind } from "../../src/index.ts";
      export const Widgets = defineKind({
        group: "shop.example",
        kind: "Widget",
        schema: {
          spec: { type: "object", required: ["size"], properties: { size: { type: "integer" }, label: { type: "string" } } },
          status: { type: "object", required: ["total"], properties: { total: { type: "integer" } } },
        },
        ${hooks}
      });
      export const size = (widget: typeof Widgets.Object): number => widget.spec.size;
    `;
    await writeFile(
      path.join(folder, "right.ts"),
      kind("status: ({ spec }) => ({ total: spec.size }), validate: () => [],"),
    );
    const wrongHooks = `
      setDefaults({ spec }) { spec.colour = "red"; },
      validate: ({ spec }) => (spec.label.length > 3 ? [{ field: "spec.label", message: "long" }] : []),
      status: ({ spec }) => ({ totals: spec.size }),
    `;
    await writeFile(path.join(folder, "wrong.ts"), kind(wrongHooks));
    const config = { extends: "../../tsconfig.json", include: ["*.ts"] };
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
    const wrong = await run(process.execPath, [tsc, "--noEmit", "-p", folder]).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    assert.doesNotMatch(wrong, /right\.ts/);
    assert.match(wrong, /Property 'colour' does not exist/);
    assert.match(wrong, /'spec.label' is possibly 'undefined'/);
    assert.match(wrong, /Property 'total' is missing/);
  });
});
