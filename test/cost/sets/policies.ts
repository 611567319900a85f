import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../../fuzz/random.ts";
import { type CostlyDefinition, type Focus, GROUP } from "./definitions.ts";
import { costlyExpression, type Sources } from "./expressions.ts";
import { upTo } from "./fields.ts";

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";

/** An object of an administrator, and the collection that it is in. */
export interface AdminObject {
  readonly path: string;
  readonly body: JsonObject;
}

/** ConfigMaps that policies use as params. */
export const PARAMS_NAME = "params";

/** The values of the objects of a definition. A deletion has only the old one. */
function sourcesOf({ fields }: CostlyDefinition, root: "object" | "oldObject", hasParams: boolean): Sources {
  const spec = `${root}.spec`;
  const texts = [`${root}.metadata.name`, `${spec}.texts[0]`, `string(${spec}.texts.size())`];
  const lists = [`${spec}.texts`, `${spec}.free.a.map(a, string(type(a)))`];
  if (fields.has("text")) texts.push(`${spec}.text`);
  if (fields.has("map")) lists.push(`${spec}.map.map(k, k)`);
  if (hasParams) texts.push("params.data.text", "params.data.pattern");
  if (hasParams) lists.push("params.data.text.split(',')");
  const variables = { texts: [...texts, "variables.text"], lists: [...lists, "variables.list"] };
  return { ...variables, anything: [root, spec, `${spec}.free`, `${root}.metadata`, "request", "variables.list"] };
}

/** Variables that grow: each is made of the one before. */
function variablesOf(random: Random, { texts, lists }: Sources): JsonObject[] {
  const isOwn = (name: string) => !name.startsWith("variables.");
  const chain = (name: string, start: string, doubled: (before: string) => string): JsonObject[] => {
    const length = random.below(8);
    const named = (index: number) => (index === length ? name : `${name}${index}`);
    return Array.from({ length: length + 1 }, (_, index) => ({
      name: named(index),
      expression: index === 0 ? start : doubled(`variables.${named(index - 1)}`),
    }));
  };
  return [
    ...chain("text", random.pick(texts.filter(isOwn)), (before) => `${before} + ${before}`),
    ...chain("list", random.pick(lists.filter(isOwn)), (before) => `${before} + ${before}`),
  ];
}

function ruleFor({ plural }: CostlyDefinition, random: Random): JsonObject {
  const resources = random.chance(0.8) ? [plural] : ["*", "*/*"];
  return { apiGroups: [GROUP], apiVersions: ["*"], operations: ["*"], resources };
}

const conditionsOf = (random: Random, sources: Sources): JsonObject[] =>
  random.chance(0.7)
    ? []
    : Array.from({ length: upTo(random, 4) }, (_, index) => ({
        name: `c${index}`,
        expression: costlyExpression(random, withoutVariables(sources)),
      }));

const withoutVariables = ({ texts, lists, anything }: Sources): Sources => {
  const own = (names: readonly string[]) => names.filter((name) => !name.startsWith("variables."));
  return { texts: own(texts), lists: own(lists), anything: own(anything) };
};

function validationsOf(random: Random, sources: Sources): JsonObject {
  const validation = () => ({
    expression: costlyExpression(random, sources),
    ...(random.chance(0.2) && { messageExpression: `string(${random.pick(sources.texts)})` }),
  });
  const audited = { key: "k", valueExpression: `string(${random.pick(sources.texts)})` };
  return {
    validations: Array.from({ length: upTo(random, 5) }, validation),
    ...(random.chance(0.2) && { auditAnnotations: [audited] }),
  };
}

/** Mutations that add little to an object, add much, or change it in many steps. */
const APPLIED: readonly ((list: string, text: string) => string)[] = [
  (list) => `Object{metadata: Object.metadata{annotations: {'n': string(${list}.size())}}}`,
  (list) => `Object{metadata: Object.metadata{labels: ${list}.transformMapEntry(i, v, {'l' + string(i): 'x'})}}`,
  (list) => `Object{spec: Object.spec{texts: ${list}}}`,
  (_, text) => `Object{metadata: Object.metadata{annotations: {'t': ${text}}}}`,
];
const PATCHED: readonly ((list: string, text: string) => string)[] = [
  (list) => `${list}.map(v, JSONPatch{op: 'add', path: '/spec/free/' + jsonpatch.escapeKey(v), value: v})`,
  (list) => `${list}.map(v, JSONPatch{op: 'test', path: '/spec', value: object.spec})`,
  (list) => `${list}.map(v, JSONPatch{op: 'add', path: '/spec/texts/0', value: v})`,
  (list) => `${list}.map(v, JSONPatch{op: 'copy', from: '/spec/free', path: '/spec/free/' + jsonpatch.escapeKey(v)})`,
  (_, text) => `[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'t': ${text}}}]`,
];

function mutationsOf(random: Random, sources: Sources): JsonObject {
  const mutation = (): JsonObject => {
    const expression = (makers: typeof APPLIED) =>
      random.pick(makers)(random.pick(sources.lists), random.pick(sources.texts));
    return random.chance(0.5)
      ? { patchType: "ApplyConfiguration", applyConfiguration: { expression: expression(APPLIED) } }
      : { patchType: "JSONPatch", jsonPatch: { expression: expression(PATCHED) } };
  };
  return {
    reinvocationPolicy: random.pick(["Never", "IfNeeded"]),
    mutations: Array.from({ length: upTo(random, 6) }, mutation),
  };
}

/** Policies with their bindings. */
export function costlyPolicies(
  random: Random,
  definition: CostlyDefinition,
  number: number,
  focus: Focus,
): AdminObject[] {
  const made: AdminObject[] = [];
  const count = focus === "policies" || focus === "mutations" ? upTo(random, 4) : random.chance(0.15) ? 1 : 0;
  for (let index = 0; index < count; index += 1) {
    const isMutating = focus === "mutations" && (index === 0 || random.chance(0.6));
    const hasParams = random.chance(0.3);
    const sources = sourcesOf(definition, !isMutating && random.chance(0.2) ? "oldObject" : "object", hasParams);
    const name = `set${number}-${index}`;
    const spec: JsonObject = {
      failurePolicy: random.pick(["Fail", "Ignore"]),
      ...(hasParams && { paramKind: { apiVersion: "v1", kind: "ConfigMap" } }),
      variables: variablesOf(random, sources),
      matchConstraints: { resourceRules: [ruleFor(definition, random)] },
      matchConditions: conditionsOf(random, sources),
      ...(isMutating ? mutationsOf(random, sources) : validationsOf(random, sources)),
    };
    const paramRef = {
      namespace: "fuzz",
      parameterNotFoundAction: "Allow",
      ...(random.chance(0.5) ? { name: `${PARAMS_NAME}-0` } : { selector: { matchLabels: { use: PARAMS_NAME } } }),
    };
    const kind = isMutating ? "mutatingadmissionpolic" : "validatingadmissionpolic";
    made.push({ path: `${ADMISSION}/${kind}ies`, body: { metadata: { name }, spec } });
    const actions = random.pick([["Deny"], ["Warn"], ["Audit"], ["Warn", "Audit"]]);
    const bound = {
      policyName: name,
      ...(!isMutating && { validationActions: actions }),
      ...(hasParams && { paramRef }),
    };
    made.push({ path: `${ADMISSION}/${kind}ybindings`, body: { metadata: { name }, spec: bound } });
  }
  return made;
}

const NUMBERS = Array.from({ length: 200 }, (_, index) => index);

/** How the webhooks of sets respond: the names of behaviours of the webhook server. */
export const PATCHES: Readonly<Record<string, readonly JsonObject[]>> = {
  "many-adds": Array.from({ length: 2000 }, (_, index) => ({ op: "add", path: "/spec/texts/0", value: `w${index}` })),
  "many-members": Array.from({ length: 2000 }, (_, index) => ({ op: "add", path: `/spec/free/w${index}`, value: 1 })),
  tests: [
    { op: "add", path: "/spec/free/w", value: NUMBERS },
    ...Array.from({ length: 500 }, () => ({ op: "test", path: "/spec/free/w", value: NUMBERS })),
  ],
  "add-and-remove": Array.from({ length: 1000 }).flatMap(() => [
    { op: "add", path: "/spec/free/w", value: {} },
    { op: "remove", path: "/spec/free/w" },
  ]),
  copies: Array.from({ length: 40 }, (_, index) => ({ op: "copy", from: "/spec/texts", path: `/spec/free/w${index}` })),
  moves: Array.from({ length: 1000 }, (_, index) => ({
    op: "move",
    from: index % 2 === 0 ? "/spec/free" : "/spec/moved",
    path: index % 2 === 0 ? "/spec/moved" : "/spec/free",
  })),
  "large-value": [{ op: "add", path: "/spec/free/w", value: Array.from({ length: 15_000 }, () => ({})) }],
};

/** A configuration of webhooks. `url` returns the address of a behaviour. */
export function costlyWebhooks(
  random: Random,
  definition: CostlyDefinition,
  number: number,
  { url, caBundle }: { readonly url: (behaviour: string) => string; readonly caBundle: string },
): AdminObject {
  const sources = withoutVariables(sourcesOf(definition, "object", false));
  const isMutating = random.chance(0.8);
  const webhooks = Array.from({ length: upTo(random, 4) }, (_, index) => ({
    name: `w${index}.sets.example.com`,
    clientConfig: { url: url(isMutating ? random.pick(Object.keys(PATCHES)) : "allow"), caBundle },
    rules: [ruleFor(definition, random)],
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: random.pick(["Fail", "Ignore"]),
    matchConditions: conditionsOf(random, sources),
    ...(isMutating && { reinvocationPolicy: random.pick(["Never", "IfNeeded"]) }),
  }));
  const kind = isMutating ? "mutating" : "validating";
  const body = { metadata: { name: `set${number}` }, webhooks };
  return { path: `${ADMISSION}/${kind}webhookconfigurations`, body };
}
