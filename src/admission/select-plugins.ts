import type { AdmissionPlugin } from "./plugin.ts";

/** `--enable-admission-plugins` and `--disable-admission-plugins`. */
export interface PluginChoice {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
}

/**
 * The plugins that stay on. All of `plugins` are on unless they are switched off; `unavailable` are known names without
 * a plugin, which may be switched off but not on. Throws when a name is unknown or in both lists.
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
  // Better no server than one that seems to enforce what it does not.
  const missing = enabled.find((name) => unavailable.includes(name));
  if (missing !== undefined)
    throw new Error(`enable-admission-plugins plugin ${JSON.stringify(missing)} is not available`);
  return plugins.filter(({ name }) => !disabled.includes(name));
}

function check(flag: string, names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`${flag} plugin ${JSON.stringify(unknown)} is unknown`);
}
