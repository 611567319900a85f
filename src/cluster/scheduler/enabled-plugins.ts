import { suggestion } from "../../base/util/suggestion.ts";
import type { PluginSet, ProfileConfiguration } from "./configuration.ts";

/** A plugin at an extension point. */
export interface EnabledPlugin {
  readonly name: string;
  readonly weight: number;
}

/** A plugin as the default profile has it. */
export interface KnownPlugin {
  readonly name: string;
  readonly weight?: number | undefined;
}

/**
 * The plugins of a profile at an extension point, in order. `points`: the upstream names of the extension point, because
 * one function of ours may stand for two. `others`: names that are known, but have no function. Throws an Error for an
 * unknown name.
 *
 * Upstream: mergePluginSet and expandMultiPointPlugins
 */
export function enabledPlugins(
  { plugins }: Pick<ProfileConfiguration, "plugins">,
  known: readonly KnownPlugin[],
  others: ReadonlySet<string>,
  points: readonly string[],
): EnabledPlugin[] {
  const sets = [plugins.multiPoint ?? {}, ...points.map((point) => plugins[point] ?? {})];
  for (const set of sets) checkNames(set, known, others);
  const isKnown = ({ name }: { name: string }) => known.some((one) => one.name === name);
  const everywhere = multiPoint(plugins.multiPoint ?? {}, known).filter(isKnown);
  const own = points.flatMap((point) => plugins[point]?.enabled ?? []).filter(isKnown);
  const disabled = new Set(points.flatMap((point) => plugins[point]?.disabled ?? []).map(({ name }) => name));
  const left = everywhere.filter(({ name }) => !disabled.has("*") && !disabled.has(name));
  const names = new Set(everywhere.map(({ name }) => name));
  const ownNames = new Set(own.map(({ name }) => name));
  const all = [
    ...own.filter(({ name }) => names.has(name)),
    ...left.filter(({ name }) => !ownNames.has(name)),
    ...own.filter(({ name }) => !names.has(name)),
  ];
  const unique = new Map(all.map(({ name, weight }) => [name, { name, weight: weight || 1 }]));
  return [...unique.values()];
}

/** The default plugins without disabled ones, with the weights of the profile, then those that it adds. */
function multiPoint({ enabled = [], disabled = [] }: PluginSet, known: readonly KnownPlugin[]): KnownPlugin[] {
  const off = new Set(disabled.map(({ name }) => name));
  const own = new Map(enabled.map((plugin) => [plugin.name, plugin]));
  const kept = off.has("*") ? [] : known.filter(({ name }) => !off.has(name));
  const keptNames = new Set(kept.map(({ name }) => name));
  return [
    ...kept.map((plugin) => own.get(plugin.name) ?? plugin),
    ...enabled.filter(({ name }) => !keptNames.has(name)),
  ];
}

function checkNames({ enabled = [] }: PluginSet, known: readonly KnownPlugin[], others: ReadonlySet<string>): void {
  for (const { name } of enabled) {
    if (others.has(name) || known.some((one) => one.name === name)) continue;
    const hint = suggestion(
      name,
      known.map((one) => one.name),
    );
    throw new Error(`loading the scheduler configuration failed: plugin ${JSON.stringify(name)} does not exist${hint}`);
  }
}
