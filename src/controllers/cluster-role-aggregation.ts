import { isDeepStrictEqual } from "node:util";
import { matchesLabels } from "../api/label-selector.ts";
import type { Json } from "../api/object.ts";
import { readSelectorObject } from "../api/selector-object.ts";
import { WorkQueue } from "../lib/work-queue.ts";
import { storedResource } from "../resources/model/stored-resource.ts";
import { EntryReadings } from "../resources/read/entry-readings.ts";
import { StoredIndex } from "../resources/read/stored-index.ts";
import type { PolicyRule, Role } from "../types/rbac.ts";
import { type Controller, type ControllerContext, unlessCode } from "./controller.ts";
import { readObject } from "./stored-kinds.ts";

const NAME = "clusterrole-aggregation-controller";
const GROUP = "rbac.authorization.k8s.io";

const knownRoles = new EntryReadings<Role>();

/**
 * clusterrole-aggregation-controller: fills the rules of every ClusterRole that has an aggregationRule from those that
 * its selectors match.
 */
export function clusterRoleAggregation({ resources, client, report }: ControllerContext): Controller {
  const { store, keys, codec, catalog, clock } = resources;
  const resource = storedResource(catalog, GROUP, "clusterroles");
  const { definition, apiVersion } = resource;

  const aggregate = async (role: Role, all: readonly Role[]): Promise<void> => {
    const rules = aggregatedRules(role, all);
    if (isDeepStrictEqual(rules, role.rules ?? [])) return;
    const { name } = role.metadata;
    const applied = { kind: definition.kind, apiVersion, metadata: { name }, rules };
    await client.apply(resource, applied, { fieldManager: NAME }).catch(unlessCode(404));
  };

  return {
    name: NAME,
    aliases: ["clusterrole-aggregation"],
    async run(signal) {
      const queue = new WorkQueue<string>({
        clock,
        concurrency: 1,
        work: async (key) => {
          const role = index.items.get(key);
          if (role?.aggregationRule === undefined) return;
          await aggregate(role, [...index.items.values()]);
        },
        onError: (error) => {
          if (!signal.aborted) report(NAME, error);
        },
      });
      const index = new StoredIndex<Role>({
        store,
        prefix: keys.prefix(definition),
        read: (entry) => knownRoles.of(entry, () => readObject(codec, entry)),
        changed: () => {
          for (const [key, { aggregationRule }] of index.items) if (aggregationRule !== undefined) queue.add(key);
        },
      });
      try {
        await index.run(signal);
      } finally {
        await queue.close();
      }
    },
  };
}

/** The rules of all roles that a role gathers: by selector, then by name, each rule once. */
function aggregatedRules({ metadata, aggregationRule }: Role, all: readonly Role[]): PolicyRule[] {
  const rules: PolicyRule[] = [];
  for (const selector of aggregationRule?.clusterRoleSelectors ?? []) {
    const requirements = readSelectorObject(selector as Json);
    if (requirements === undefined) continue;
    const matched = all.filter((one) => matchesLabels(requirements, one.metadata.labels));
    matched.sort((one, other) => ((one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1));
    for (const role of matched) {
      if (role.metadata.name === metadata.name) continue;
      for (const rule of role.rules ?? []) if (!rules.some((known) => isDeepStrictEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
