import { systemClock } from "../../lib/clock.ts";
import { parseRange } from "../../lib/ip-range.ts";
import { getMember } from "../../lib/members.ts";
import { systemRandom } from "../../lib/random.ts";
import type { ServerOptions } from "./options.ts";

/** What is wrong with the options that a server was given. */
export class OptionsError extends Error {
  /** One line each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? `invalid option ${problems[0]}` : `invalid options:\n  ${problems.join("\n  ")}`);
    this.name = "OptionsError";
    this.problems = problems;
  }
}

/** Says what was expected of a value, if it is something else. */
type Check = (value: unknown) => string | undefined;

const check =
  (expected: string, isGood: (value: unknown) => boolean): Check =>
  (value) =>
    isGood(value) ? undefined : expected;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !isList(value);

const text = check("a text that is not empty", isText);
const texts = check("a list of texts", (value) => isList(value) && value.every((one) => typeof one === "string"));
const flag = check("true or false", (value) => typeof value === "boolean");
const port = check(
  "a port from 0 to 65535",
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536,
);
const span = check("milliseconds, 0 or more", (value) => typeof value === "number" && value >= 0 && value < 2 ** 53);
const count = check("a whole number, 0 or more", (value) => Number.isSafeInteger(value) && Number(value) >= 0);
const group = check("an object", isGroup);
const functions = (names: readonly string[]): Check =>
  check(
    `an object with the functions ${names.join(", ")}`,
    (value) => isGroup(value) && names.every((name) => typeof value[name] === "function"),
  );
const either =
  (...checks: Check[]): Check =>
  (value) => {
    const expected = checks.map((one) => one(value));
    return expected.includes(undefined) ? undefined : expected.join(", or ");
  };
const oneOf = (...values: unknown[]): Check =>
  check(values.map((value) => JSON.stringify(value)).join(" or "), (value) => values.includes(value));
const range = check(
  "a range of addresses such as 10.0.0.0/24, or two of them with a comma between",
  (value) => typeof value === "string" && value.split(",").every((one) => parseRange(one) !== undefined),
);
const domain = check(
  "a domain such as k8s.io",
  (value) =>
    typeof value === "string" && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(value),
);
const gates = check(
  "an object of feature gates with true or false",
  (value) => isGroup(value) && Object.values(value).every((one) => typeof one === "boolean"),
);
const kinds = check(
  "a list of what defineKind returned",
  (value) => isList(value) && value.every((one) => isGroup(one) && isGroup(one.crd) && isGroup(one.hooks)),
);
const modules = check(
  "a list of objects with the functions mutate or validate, and perhaps rules",
  (value) =>
    isList(value) &&
    value.every(
      (one) =>
        isGroup(one) &&
        [one.mutate, one.validate].some((called) => typeof called === "function") &&
        [one.mutate, one.validate].every((called) => called === undefined || typeof called === "function") &&
        (one.rules === undefined || isList(one.rules)),
    ),
);
const stores = ['{ type: "memory" }', '{ type: "sqlite", file: "FILE" }', '{ type: "etcd", servers: ["URL"] }'].join(
  " or ",
);
const store = check(stores, (value) => {
  if (!isGroup(value)) return false;
  if (value.type === "memory") return true;
  if (value.type === "sqlite") return isText(value.file);
  return value.type === "etcd" && isList(value.servers) && value.servers.length > 0 && value.servers.every(isText);
});

/** What each option has to be. Members of `group` are judged by whoever reads them, when the server starts. */
const CHECKS: Readonly<Record<keyof ServerOptions, Check>> = {
  store,
  etcdPrefix: text,
  compactionIntervalMs: span,
  apiDomain: domain,
  bindAddress: text,
  advertiseAddress: text,
  securePort: port,
  insecurePort: port,
  certDir: text,
  tlsCertFile: text,
  tlsPrivateKeyFile: text,
  rootCaFile: text,
  clientCaFile: text,
  tokenAuthFile: text,
  authentication: group,
  proxyClientCertFile: text,
  proxyClientKeyFile: text,
  aggregatorRouting: flag,
  authorization: group,
  serviceAccounts: group,
  connect: group,
  serviceClusterIpRange: range,
  eventTtlMs: span,
  admissionPlugins: group,
  admission: group,
  featureGates: gates,
  customObjects: oneOf("open", "defined"),
  openapiDescriptions: text,
  kinds,
  controllers: text,
  maxInlineBytes: count,
  audit: group,
  logRequests: flag,
  requestTimeoutMs: span,
  shutdownDelayMs: span,
  shutdownGraceMs: span,
  log: either(oneOf(false), functions(["error", "warn", "info"])),
  clock: functions(Object.keys(systemClock)),
  random: functions(Object.keys(systemRandom)),
};

/** The members of `group` options, as far as they are simple. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  authentication: {
    ...{ anonymous: flag, frontProxy: group, bootstrapTokens: flag, webhook: group, oidc: group, configFile: text },
  },
  authorization: { modes: texts, webhook: group, configFile: text },
  admissionPlugins: { enabled: texts, disabled: texts },
  admission: { functions: modules, functionFiles: texts, configFile: text },
  serviceAccounts: {
    ...{ signingKeyFile: text, keyFiles: texts, issuers: texts, apiAudiences: texts, maxTokenExpirationMs: span },
    ...{ extendTokenExpiration: flag, lookup: flag, jwksUri: text },
  },
  audit: { policyFile: text, log: group, webhook: group },
};

/**
 * Throws an OptionsError that names every option that is unknown or has a value it cannot have.
 */
export function checkOptions(options: unknown): void {
  if (!isGroup(options)) throw new OptionsError([`${show(options)}: expected an object of options, or nothing`]);
  const problems = problemsOf(options, CHECKS, "");
  if (problems.length > 0) throw new OptionsError(problems);
}

function problemsOf(
  options: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, Check>>,
  parent: string,
): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const own = getMember(checks, name);
    const path = parent === "" ? name : `${parent}.${name}`;
    if (own === undefined) return [`${path}: there is no such option${suggestion(name, Object.keys(checks))}`];
    const expected = own(value);
    if (expected !== undefined) return [`${path}: expected ${expected}, got ${show(value)}`];
    const members = parent === "" ? getMember(MEMBERS, name) : undefined;
    return members && isGroup(value) ? problemsOf(value, members, path) : [];
  });
}

function show(value: unknown): string {
  if (typeof value === "function") return "a function";
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}

/** The known name that differs least, if it is one or two letters. */
function suggestion(name: string, known: readonly string[]): string {
  if (name.length > 50) return "";
  const near = known.map((one) => ({ one, steps: distance(name.toLowerCase(), one.toLowerCase()) }));
  const [best] = near.filter(({ steps }) => steps <= 2).sort((a, b) => a.steps - b.steps);
  return best === undefined ? "" : `, did you mean ${best.one}?`;
}

/** How many letters must be added, removed or changed to make one text of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
