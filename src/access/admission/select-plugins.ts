import type { AdmissionPlugin } from "./plugin.ts";

/** `--enable-admission-plugins` and `--disable-admission-plugins`. */
export interface PluginChoice {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
}

/**
 * The enabled plugins. All of `plugins` are on by default. `unavailable` are known plugins that are not implemented;
 * they may be disabled but not enabled. Throws an Error if a name is unknown or in both lists.
 */
export function selectPlugins(
  plugins: readonly AdmissionPlugin[],
  unavailable: readonly string[],
  { enabled, disabled }: PluginChoice,
): AdmissionPlugin[] {
  const known = new Set([...plugins.map(({ name }) => name), ...unavailable]);
  check("enable-admission-plugins", enabled, known);
  check("disable-admission-plugins", disabled, known);
  const both = [...new Set(enabled)].filter((name) => disabled.includes(name)).sort();
  if (both.length > 0) {
    throw new Error(`[${both.join(" ")}] in enable-admission-plugins and disable-admission-plugins overlapped`);
  }
  // A server that only seems to enforce something is worse than none.
  const missing = enabled.find((name) => unavailable.includes(name));
  if (missing !== undefined)
    throw new Error(`enable-admission-plugins plugin ${JSON.stringify(missing)} is not available`);
  return plugins.filter(({ name }) => !disabled.includes(name));
}

function check(flag: string, names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`${flag} plugin ${JSON.stringify(unknown)} is unknown`);
}
