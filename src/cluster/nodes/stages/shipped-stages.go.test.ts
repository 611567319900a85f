import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { isMissing, needs } from "../../../../test/support/tools.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { systemRandom } from "../../../base/util/random.ts";
import { decodeYaml } from "../../../data/encoding/yaml/yaml.ts";
import { KwokCel } from "../kwok/cel.ts";
import type { TemplateFunctions, Value } from "./go-template/evaluate.ts";
import { type CompiledStep, Stage } from "./stage.ts";
import { isStageFunction, stageFunctions } from "./stage-functions.ts";
import type { StageObject } from "./stage-types.ts";

const root = path.join(import.meta.dirname, "../../../..");
const NOW = Date.parse("2006-01-02T15:04:05Z");

/** The folder of KWOK's sources, in the version of `tools/kwok`. */
function sources(): string {
  const cwd = path.join(root, "tools/kwok");
  const folder = execFileSync("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"], { cwd, encoding: "utf8" });
  return path.join(folder.trim(), "kustomize/stage");
}

const readYaml = (file: string) => decodeYaml(readFileSync(file)).value as JsonObject;

/** Functions that print their names and arguments, as in KWOK's own test. */
function namedFunctions(): TemplateFunctions {
  const show = (name: string, args: readonly Value[]) =>
    args.length === 0 ? name : `${name}(${args.map((arg) => JSON.stringify(arg ?? "")).join(", ")})`;
  const texts = ["NodeIP", "NodeName", "NodePort", "PodIP", "NodeIPWith", "PodIPWith", "Now", "Version"];
  const lists = ["NodeIPsWith", "PodIPsWith"];
  return {
    ...stageFunctions(NOW, NOW),
    ...Object.fromEntries(texts.map((name) => [name, (...args: readonly Value[]) => `<${show(name, args)}>`])),
    ...Object.fromEntries(
      lists.map((name) => [
        name,
        (...args: readonly Value[]) => [`<0 of ${show(name, args)}>`, `<1 of ${show(name, args)}>`],
      ]),
    ),
  };
}

const PATCHES: Readonly<Record<string, string>> = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

function shownStep({ event, patch, apply, delete: deletes }: CompiledStep, object: KubeObject): JsonObject[] {
  const functions = namedFunctions();
  const sub = (subresource: string | undefined) => ({ ...(subresource && { subresource }) });
  const typeOf = (data: Json, isStrategic: boolean) =>
    Array.isArray(data) ? "application/json-patch+json" : (PATCHES[isStrategic ? "strategic" : "merge"] ?? "");
  const data = patch?.render(object, functions);
  return [
    ...(event ? [{ kind: "event", ...event }] : []),
    ...(deletes ? [{ kind: "delete" }] : []),
    ...(patch && data
      ? [{ kind: "patch", data, type: typeOf(data, patch.isStrategic), ...sub(patch.subresource) }]
      : []),
    ...(apply
      ? [
          {
            kind: "apply",
            data: apply.render(object, functions),
            type: PATCHES[apply.type] ?? "",
            ...sub(apply.subresource),
          },
        ]
      : []),
  ];
}

/** Upstream: ListAllPossible of KWOK */
function possible(stages: readonly Stage[], object: KubeObject): Stage[] {
  const matching = stages.filter((stage) => stage.matches(object));
  const total = matching.reduce((sum, stage) => sum + (stage.weight(object) ?? 0), 0);
  return matching.length <= 1 || total === 0 ? matching : matching.filter((stage) => (stage.weight(object) ?? 0) > 0);
}

suite("the Stages that KWOK ships", needs("go", "kwok"), () => {
  const folder = isMissing("go") ? "" : sources();
  const files = globSync("*/*/*.yaml", { cwd: folder });
  const cel = new KwokCel({ clock: systemClock, random: systemRandom }, { self: undefined });
  const context = { isKnownFunction: isStageFunction, cel, patchType: "merge" } as const;
  const stagesIn = (within: string) =>
    files
      .filter((file) => path.dirname(file) === within)
      .map((file) => readYaml(path.join(folder, file)) as StageObject)
      .filter(({ kind }) => kind === "Stage");

  for (const file of files) {
    const object = readYaml(path.join(folder, file)) as StageObject;
    if (object.kind === "Stage")
      test(`${file} is supported`, () => assert.ok(new Stage(object, context).steps.length > 0));
  }

  for (const input of globSync("*/*/testdata/*.input.yaml", { cwd: folder })) {
    test(`${input} leads to the output of KWOK's own test`, () => {
      const object = readYaml(path.join(folder, input)) as KubeObject;
      const expected = readYaml(path.join(folder, input.replace(".input.", ".output.")));
      const about = stagesIn(path.dirname(path.dirname(input))).filter(
        ({ spec: { resourceRef } }) => resourceRef?.kind === object.kind,
      );
      const shown = possible(
        about.map((one) => new Stage(one, context)),
        object,
      ).map((stage) => {
        const range = stage.delayRange(object, NOW);
        const next = stage.steps.flatMap((step) => shownStep(step, object));
        const isImmediate = about.find(({ metadata }) => metadata.name === stage.name)?.spec.immediateNextStage;
        return {
          stage: stage.name,
          ...(range && { delay: [...new Set(range)].map((ms) => ms * 1e6) }),
          weight: stage.weight(object),
          next: [...next, ...(isImmediate ? [{ kind: "immediate" }] : [])],
        };
      });
      assert.ok(isObject(expected));
      assert.deepEqual(shown, expected.stages);
    });
  }
});
