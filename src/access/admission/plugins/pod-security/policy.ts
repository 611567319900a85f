import { type FieldError, invalidField } from "../../../../base/api/field-error.ts";

const LEVELS = ["privileged", "baseline", "restricted"] as const;

/** A level of the Pod Security Standards: privileged, baseline or restricted. */
export type Level = (typeof LEVELS)[number];

/** A level as one release of Kubernetes defined it, such as restricted:v1.30. */
export interface LevelVersion {
  readonly level: Level;
  /** `latest` or `v1.N`. */
  readonly version: string;
}

/** The levels of the modes enforce, audit and warn. */
export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

/** Policy of a Namespace without pod-security.kubernetes.io labels: privileged. */
export const DEFAULT_POLICY: Policy = {
  enforce: { level: "privileged", version: "latest" },
  audit: { level: "privileged", version: "latest" },
  warn: { level: "privileged", version: "latest" },
};

const PREFIX = "pod-security.kubernetes.io/";

type Labels = Readonly<Record<string, string>>;

interface ReadMode {
  readonly level?: Level;
  readonly version?: string;
  readonly errors: FieldError[];
}

/**
 * The policy of a Namespace's pod-security.kubernetes.io labels, and the errors in them. There always is a policy:
 * invalid labels have fallbacks.
 */
export function readPolicy(labels: Labels | undefined): { policy: Policy; errors: FieldError[] } {
  if (!labels || !speaksOfSecurity(labels)) return { policy: DEFAULT_POLICY, errors: [] };
  const enforce = readMode(labels, "enforce", "restricted");
  const audit = readMode(labels, "audit", "privileged");
  const warn = readMode(labels, "warn", "privileged");
  const errors = [...enforce.errors, ...audit.errors, ...warn.errors];
  const policy = {
    enforce: withDefaults(enforce, DEFAULT_POLICY.enforce),
    audit: withDefaults(audit, DEFAULT_POLICY.audit),
    warn: withDefaults(warn, DEFAULT_POLICY.warn),
  };
  // If a level is enforced but no warn level is set, writes of workloads warn about pods that would be rejected.
  const isEnforcedMore = compareLevels(policy.enforce.level, policy.warn.level) > 0;
  const isWellSaid = isLevel(labels[`${PREFIX}enforce`]);
  if (labels[`${PREFIX}warn`] === undefined && isWellSaid && isEnforcedMore) {
    const { level, version } = policy.enforce;
    return { policy: { ...policy, warn: { level, version: warn.version ?? version } }, errors };
  }
  return { policy, errors };
}

function speaksOfSecurity(labels: Labels): boolean {
  for (const label in labels) if (label.startsWith(PREFIX)) return true;
  return false;
}

function withDefaults({ level, version }: ReadMode, defaults: LevelVersion): LevelVersion {
  return { level: level ?? defaults.level, version: version ?? defaults.version };
}

function readMode(labels: Labels, mode: string, instead: Level): ReadMode {
  const errors: FieldError[] = [];
  const level = labels[`${PREFIX}${mode}`];
  const version = labels[`${PREFIX}${mode}-version`];
  if (level !== undefined && !isLevel(level)) {
    errors.push(labelError(mode, level, `must be one of ${LEVELS.join(", ")}`));
  }
  if (version !== undefined && !isVersion(version)) {
    errors.push(labelError(`${mode}-version`, version, 'must be "latest" or "v1.x"'));
  }
  return {
    level: level === undefined || isLevel(level) ? level : instead,
    version: version === undefined || isVersion(version) ? version : "latest",
    errors,
  };
}

function labelError(name: string, value: string, text: string): FieldError {
  return invalidField(`metadata.labels[${PREFIX}${name}]`, value, text);
}

function isLevel(text: string | undefined): text is Level {
  return (LEVELS as readonly (string | undefined)[]).includes(text);
}

function isVersion(text: string): boolean {
  if (text === "latest") return true;
  const [, minor] = /^v1\.([0-9]|[1-9][0-9]*)$/.exec(text) ?? [];
  return minor !== undefined && BigInt(minor) < 2n ** 63n;
}

/** The minor release of a version. Infinity for latest. */
export function minorOf(version: string): number {
  return version === "latest" ? Number.POSITIVE_INFINITY : Number(version.slice("v1.".length));
}

/** Formats a level for messages: `restricted:latest`. */
export function printLevelVersion({ level, version }: LevelVersion): string {
  return `${level}:${version}`;
}

/** Whether level and version are the same. */
export function isSameLevelVersion(one: LevelVersion, other: LevelVersion): boolean {
  return one.level === other.level && one.version === other.version;
}

/** Positive if the first level is stricter. */
export function compareLevels(one: Level, other: Level): number {
  return LEVELS.indexOf(one) - LEVELS.indexOf(other);
}
