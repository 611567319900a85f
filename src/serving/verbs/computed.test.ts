import assert from "node:assert/strict";
import { test } from "node:test";
import { refusal, World } from "./verbs.suite.ts";

const PATH = "/api/v1/componentstatuses";

test("computed objects can be listed, selected and read, but not written", async () => {
  const world = new World();
  const { names } = await world.list(PATH);
  assert.ok(names.includes("scheduler") && names.includes("controller-manager"), names.join());
  assert.deepEqual((await world.list(`${PATH}?labelSelector=x`)).names, []);
  const scheduler = await world.object("GET", `${PATH}/scheduler`);
  assert.partialDeepStrictEqual(scheduler, {
    kind: "ComponentStatus",
    conditions: [{ type: "Healthy", status: "False", message: "no component runs" }],
  });
  await assert.rejects(world.ask("GET", `${PATH}/missing`), refusal(404, /^componentstatus "missing" not found$/));
  await assert.rejects(world.ask("DELETE", `${PATH}/scheduler`), refusal(405, /does not allow this method/));
});
