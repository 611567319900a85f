/** What programs have logged that went wrong. */
export interface LoggedErrors {
  /** How often each form of error was logged. */
  readonly forms: ReadonlyMap<string, number>;
  /** Lines that tell of 401 or 403. A write that admission refuses is none. */
  readonly refusals: readonly string[];
}

/** The message of a line of klog with severity E or F, of a JSON line of KWOK with level ERROR, or of one of Binnacle. */
function errorOf(line: string): string | undefined {
  const klog = /^[EF]\d{4} \S+ +\d+ ([\w.-]+):\d+\] (.*)$/.exec(line);
  if (klog) return `${klog[1]} ${klog[2]}`;
  if (line.startsWith('{"level":')) return ownErrorOf(JSON.parse(line));
  if (!line.startsWith('{"time":')) return undefined;
  const { level, msg, err } = JSON.parse(line);
  return level === "ERROR" ? `${msg}: ${err ?? ""}` : undefined;
}

interface OwnLine {
  readonly level: number;
  readonly msg: string;
  readonly controller?: string;
  readonly err?: { readonly message: string };
}

/** The message of a line that Binnacle logs with level error or fatal. */
function ownErrorOf({ level, msg, controller = "", err }: OwnLine): string | undefined {
  return level < 50 ? undefined : `${controller} ${msg}: ${err?.message ?? ""}`;
}

// Two writers that met, a controller whose informer is behind its own write, a pod or a namespace that went meanwhile:
// which programs and objects it happens to is chance.
const RACES: readonly (readonly [RegExp, string])[] = [
  [/Operation cannot be fulfilled on .*: the object has been modified/, "conflict: the object has been modified"],
  [/read version: \d+ is not as new as written version: \d+/, "read version is not as new as written version"],
  [/unable to create new content in namespace \S+ because it is being terminated/, "namespace is being terminated"],
  [/pods \\?"[a-z0-9.-]+\\?" not found/, "pod not found"],
  [/node updates may not change podCIDR except from/, "range allocator has not seen its own podCIDR"],
];

// What one run names differently from the next.
const MADE_UP: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "UID"],
  [/127\.0\.0\.1:\d+/g, "ADDRESS"],
  [/(?:\\?")?\b(?:demo|pre)\/[a-z0-9-]+(?:\\?")?/g, "OBJECT"],
  [/\\"[a-z0-9.-]+\\"/g, "NAME"],
  [/\b\d+\b/g, "N"],
];

function formOf(program: string, error: string): string {
  const race = RACES.find(([pattern]) => pattern.test(error));
  if (race) return race[1];
  return `${program}: ${MADE_UP.reduce((changed, [pattern, name]) => changed.replace(pattern, name), error)}`;
}

/** Reads the logs of programs by their names. */
export function readErrors(logs: Readonly<Record<string, string>>): LoggedErrors {
  const forms = new Map<string, number>();
  const refusals: string[] = [];
  for (const [program, text] of Object.entries(logs)) {
    for (const line of text.split("\n")) {
      if (isRefusal(line)) refusals.push(`${program}: ${line}`);
      const error = errorOf(line);
      if (error === undefined) continue;
      const form = formOf(program, error);
      forms.set(form, (forms.get(form) ?? 0) + 1);
    }
  }
  return { forms, refusals };
}

/** The forms that came more than once and that `known` has not, with how often they came. */
export function repeatedErrors({ forms }: LoggedErrors, known: readonly string[]): [form: string, count: number][] {
  return [...forms].filter(([form, count]) => count > 1 && !known.includes(form));
}

// "is forbidden: exceeded quota" is what admission says and "spec.x: Forbidden: " what validation says; authorization says
// "is forbidden: User". Binnacle logs the code only, and where it comes from.
function isRefusal(line: string): boolean {
  if (line.startsWith('{"level":') && line.includes("/access/admission/")) return false;
  return /\bUnauthorized\b|(?<!: )\bForbidden\b|is forbidden: User |\b(?:status|code|statusCode)[":= ]+40[13]\b/.test(
    line,
  );
}
