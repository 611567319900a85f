import { getMember } from "../util/members.ts";
import { suggestion } from "../util/suggestion.ts";
import { type ConfigOf, type GivenOf, type Group, isGroup, type Members, type Option } from "./option.ts";
import { isRecord } from "./value-types.ts";

type Values = Readonly<Record<string, unknown>>;

type DefaultOf = (option: Option) => unknown;

/** The whole configuration: what is given, and defaults for the rest. An undefined value counts as omitted. */
export function completeOptions<M extends Members>(members: M, given: GivenOf<M>): ConfigOf<M> {
  return complete(members, given, (option) => option.default) as ConfigOf<M>;
}

/** The same for values that flags set: some flags have a default of their own. */
export function completeFlags<M extends Members>(members: M, given: GivenOf<M>): ConfigOf<M> {
  return complete(members, given, (option) => option.flagDefault ?? option.default) as ConfigOf<M>;
}

function complete(members: Members, given: Values, defaultOf: DefaultOf): Values {
  const values = Object.entries(members).map(([name, one]) => [name, resolve(one, given[name], defaultOf)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function resolve(declared: Option | Group, given: unknown, defaultOf: DefaultOf): unknown {
  if (!isGroup(declared)) return declared.presence === "flag-only" ? undefined : (given ?? defaultOf(declared));
  const { members, presence, key } = declared;
  const values = (given ?? {}) as Values;
  const isAbsent = presence === "optional" && (given === undefined || (key !== undefined && values[key] === undefined));
  return isAbsent ? undefined : complete(members, values, defaultOf);
}

/** Error messages about given values that contradict each other. */
export function conflictsIn(members: Members, given: Values): string[] {
  return Object.entries(members).flatMap(([name, declared]) => {
    const values = given[name];
    if (!isGroup(declared) || values === undefined) return [];
    const own = declared.conflict?.(values as Values);
    return [...(own === undefined ? [] : [own]), ...conflictsIn(declared.members, values as Values)];
  });
}

/** Nests values by their paths: `{ "audit.log.path": "-" }` becomes `{ audit: { log: { path: "-" } } }`. */
export function nestValues(values: Values): Values {
  const nested: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const names = path.split(".");
    const last = names.pop() ?? "";
    let place = nested;
    for (const name of names) {
      place[name] ??= {};
      place = place[name] as Record<string, unknown>;
    }
    place[last] = value;
  }
  return nested;
}

/** What is wrong with options that a program passes: one line per problem. */
export function problemsIn(members: Members, options: Values, parent = ""): string[] {
  const found = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const declared = getMember(members, name);
    const path = `${parent}${name}`;
    if (declared === undefined || declared.presence === "flag-only") {
      return [`${path}: no such option${suggestion(name, Object.keys(members))}`];
    }
    if (isGroup(declared)) {
      return isRecord(value)
        ? problemsIn(declared.members, value, `${path}.`)
        : [`${path}: expected an object, got ${show(value)}`];
    }
    const { accepts, expected } = declared.type;
    return accepts(value) ? [] : [`${path}: expected ${expected}, got ${show(value)}`];
  });
  const missing = Object.entries(members).filter(
    ([name, one]) => one.presence === "required" && options[name] === undefined,
  );
  return [...found, ...missing.map(([name]) => `${parent}${name}: is required`)];
}

function show(value: unknown): string {
  if (typeof value === "function") return "a function";
  return (JSON.stringify(value) ?? String(value)).slice(0, 100);
}
