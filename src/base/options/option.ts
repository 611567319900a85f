import type { ValueType } from "./value-types.ts";

/**
 * Where a declared option exists. "default": it always has a value. "optional": it may be omitted. "required": its group may
 * be omitted, but it may not be omitted from the group. "flag-only": it is a flag, but no member of the configuration.
 */
export type Presence = "default" | "optional" | "required" | "flag-only";

/** The declaration of an option. The flag, the types, the checks, completion and the reference are derived from it. */
export interface Option<T = unknown, P extends Presence = Presence> {
  readonly type: ValueType<T>;
  /** One line for `--help` and the reference. */
  readonly help: string;
  /** Name of the flag, without dashes. If omitted, the option has no flag. */
  readonly flag?: string;
  default?: T;
  /** Default of the flag, if it differs from `default`. */
  readonly flagDefault?: T;
  /** How `--help` shows the default, if it is not a fixed value. */
  readonly shownDefault?: string;
  /** Overrides the placeholder of the type. */
  readonly placeholder?: string;
  readonly presence: P;
}

/** Options that are one object in the configuration. */
export interface Group<M extends Members = Members, P extends Presence = Presence> {
  readonly members: M;
  readonly presence: P;
  /** Of an optional group: without this member, flags for the other members have no effect. */
  readonly key?: string;
  /** Returns an error message if the given values contradict each other. */
  conflict?(given: object): string | undefined;
}

/** Declarations by the names that their values have in the configuration. */
export interface Members {
  readonly [name: string]: Option | Group;
}

/** Declarations under one heading of `--help` and of the reference. */
export interface Section {
  readonly heading: string;
  readonly options: Members;
}

type More<T> = Partial<Pick<Option<T>, "flagDefault" | "shownDefault" | "placeholder">>;
type WithDefault<T> = More<T> & { readonly default: T };

/** Declares an option with a flag. Without a default, it is optional. */
export function option<T>(
  flag: string,
  type: ValueType<T>,
  help: string,
  more: WithDefault<NoInfer<T>>,
): Option<T, "default">;
export function option<T>(
  flag: string,
  type: ValueType<T>,
  help: string,
  more?: More<NoInfer<T>>,
): Option<T, "optional">;
export function option(flag: string, type: ValueType<unknown>, help: string, more?: Partial<Option>): Option {
  return { flag, type, help, presence: more?.default === undefined ? "optional" : "default", ...more };
}

/** Declares an option that its optional group must have. */
export function requiredOption<T>(flag: string, type: ValueType<T>, help: string): Option<T, "required"> {
  return { flag, type, help, presence: "required" };
}

/** Declares a flag that is no member of the configuration. */
export function flagOnly<T>(
  flag: string,
  type: ValueType<T>,
  help: string,
  more?: More<NoInfer<T>>,
): Option<T, "flag-only"> {
  return { flag, type, help, presence: "flag-only", ...more };
}

/** Declares an option without a flag: only programs can set it. */
export function libraryOption<T>(type: ValueType<T>, help: string, more: WithDefault<NoInfer<T>>): Option<T, "default">;
export function libraryOption<T>(type: ValueType<T>, help: string): Option<T, "optional">;
export function libraryOption(type: ValueType<unknown>, help: string, more?: Partial<Option>): Option {
  return { type, help, presence: more === undefined ? "optional" : "default", ...more };
}

type Conflict<M extends Members> = (given: GivenOf<M>) => string | undefined;

/** Declares a group that every configuration has. */
export function group<M extends Members>(members: M, conflict?: Conflict<M>): Group<M, "default"> {
  return { members, presence: "default", ...(conflict && { conflict }) };
}

/** Declares a group that a configuration may omit. */
export function optionalGroup<M extends Members>(
  members: M,
  { key, conflict }: { readonly key?: keyof M & string; readonly conflict?: Conflict<M> },
): Group<M, "optional"> {
  return { members, presence: "optional", ...(key && { key }), ...(conflict && { conflict }) };
}

type Flat<T> = { readonly [K in keyof T]: T[K] };
/** Keeps the link of each member to its declaration, so that editors find it. */
type Where<M, P extends Presence> = {
  readonly [K in keyof M as M[K] extends { readonly presence: P } ? K : never]: M[K];
};

/** A whole configuration, as the server reads it. */
export type ConfigOf<M extends Members> = Flat<
  { readonly [K in keyof Where<M, "default" | "required">]: ConfigValue<M[K]> } & {
    readonly [K in keyof Where<M, "optional">]?: ConfigValue<M[K]>;
  }
>;
type ConfigValue<D> = D extends Group<infer M extends Members> ? ConfigOf<M> : D extends Option<infer T> ? T : never;

/** What a program may pass: any part of a configuration. */
export type OptionsOf<M extends Members> = Flat<
  { readonly [K in keyof Where<M, "default" | "optional">]?: OptionsValue<M[K]> } & {
    readonly [K in keyof Where<M, "required">]: OptionsValue<M[K]>;
  }
>;
type OptionsValue<D> = D extends Group<infer M extends Members> ? OptionsOf<M> : D extends Option<infer T> ? T : never;

/** What flags may set: any value, including those of flag-only options. */
export type GivenOf<M extends Members> = {
  readonly [K in keyof M]?: M[K] extends Group<infer N extends Members>
    ? GivenOf<N>
    : M[K] extends Option<infer T>
      ? T
      : never;
};

/** Whether a declaration is a group. */
export const isGroup = (declared: Option | Group): declared is Group => "members" in declared;

/** An option with its place in the configuration. */
export interface Leaf {
  /** Names with dots between them, such as `audit.log.path`. */
  readonly path: string;
  readonly option: Option;
}

/** All options of a tree, in the order of their declaration. */
export function leavesOf(members: Members, parent = ""): Leaf[] {
  return Object.entries(members).flatMap(([name, declared]) => {
    const path = `${parent}${name}`;
    return isGroup(declared) ? leavesOf(declared.members, `${path}.`) : [{ path, option: declared }];
  });
}

/** The default as `--help` shows it; empty if there is none. */
export function shownDefault({
  type,
  shownDefault: shown,
  default: usual,
  flagDefault: value = usual,
}: Option): string {
  if (shown !== undefined || value === undefined) return shown ?? "";
  return type.print?.(value) ?? String(value);
}

/** The flag with its placeholder, such as `--secure-port <port>`. */
export function flagUsage({ flag, type, placeholder = type.placeholder }: Option): string {
  return `--${flag} ${type.isSwitch ? `[${placeholder}]` : `<${placeholder}>`}`;
}
