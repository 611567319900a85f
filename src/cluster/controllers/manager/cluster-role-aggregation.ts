import { isDeepStrictEqual } from "node:util";
import { matchesLabels } from "../../../base/api/label-selector.ts";
import type { Json } from "../../../base/api/object.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import { WorkQueue } from "../../../base/util/work-queue.ts";
import type { PolicyRule, Role } from "../../../kinds/types/rbac.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { EntryReadings } from "../../../resources/read/entry-readings.ts";
import { StoredIndex } from "../../../resources/read/stored-index.ts";
import { readObject } from "../../../resources/stored-kinds.ts";
import { type Controller, type ControllerContext, unlessCode } from "../shared/controller.ts";

const NAME = "clusterrole-aggregation-controller";
const GROUP = "rbac.authorization.k8s.io";

const knownRoles = new EntryReadings<Role>();

/**
 * clusterrole-aggregation-controller: sets the rules of every ClusterRole with an aggregationRule to those of the
 * ClusterRoles that its selectors match.
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

/** The rules of all matching roles: by selector, then by name, without duplicates. */
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
