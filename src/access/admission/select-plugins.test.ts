import assert from "node:assert/strict";
import { test } from "node:test";
import { alwaysAllow } from "../authorization/always.ts";
import { World } from "./admission.suite.ts";
import { defaultPlugins } from "./plugins/all.ts";
import { PLUGIN_TABLE, UNAVAILABLE_PLUGINS } from "./plugins/plugin-table.ts";
import { selectPlugins } from "./select-plugins.ts";

const world = new World();
const plugins = defaultPlugins({ resources: world.resources, authorizer: alwaysAllow });
const select = (enabled: string[], disabled: string[]) =>
  selectPlugins(plugins, UNAVAILABLE_PLUGINS, { enabled, disabled }).map(({ name }) => name);

test("runs plugins in their fixed order, whatever the order of names", () => {
  const all = select([], []);
  assert.equal(all[0], "NamespaceLifecycle");
  assert.equal(all.at(-1), "ResourceQuota");
  assert.equal(new Set(all).size, all.length);
  assert.deepEqual(
    all,
    PLUGIN_TABLE.map(({ name }) => name),
  );
  assert.deepEqual(select(["ResourceQuota", "LimitRanger"], []), all);
});

test("omits disabled plugins, and accepts disabled names without a plugin", () => {
  const left = select(["LimitRanger"], ["PodSecurity", "Priority", "AlwaysPullImages"]);
  assert.ok(!left.includes("PodSecurity") && !left.includes("Priority"));
  assert.equal(left.length, plugins.length - 2);
});

const mistakes: readonly [enabled: string[], disabled: string[], message: string][] = [
  [["Nix"], [], 'enable-admission-plugins plugin "Nix" is unknown'],
  [[], ["podsecurity"], 'disable-admission-plugins plugin "podsecurity" is unknown'],
  [
    ["Priority", "LimitRanger"],
    ["LimitRanger", "Priority"],
    "[LimitRanger Priority] in enable-admission-plugins and disable-admission-plugins overlapped",
  ],
  [["EventRateLimit"], [], 'enable-admission-plugins plugin "EventRateLimit" is not available'],
];

for (const [enabled, disabled, message] of mistakes) {
  test(message, () => assert.throws(() => select(enabled, disabled), { message }));
}
