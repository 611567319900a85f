import { ApiError } from "../../../../base/api/api-error.ts";
import type { ResourceDefinition } from "../../../../resources/model/definition.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type Controller, isStatus, messageOf } from "../../shared/controller.ts";
import { loop, NotYet, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { DefinitionStatus } from "./definition-status.ts";
import {
  compareMigrations,
  failed,
  hasSucceeded,
  isRunning,
  isTerminal,
  type Migration,
  type MigrationCondition,
  type Progress,
  resourceKey,
  running,
  SUCCEEDED,
  withConditions,
} from "./migration.ts";

const NAME = "storage-version-migrator-controller";
const GROUP = "storagemigration.k8s.io";
const NEEDED_VERBS = ["update", "patch", "list"] as const;
/** For so long a resource may not be served yet, because its definition is new. */
const PATIENCE_MS = 60_000;

/**
 * storage-version-migrator-controller: for each StorageVersionMigration, writes all objects of a resource again that were
 * stored before it, so that they have the current storage version. Migrations of one resource run one after another.
 */
export function storageVersionMigrator(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock, catalog, store, keys } = resources;
  const { informer: migrations } = informers.of<Migration>(GROUP, "storageversionmigrations");
  const byResource = migrations.index((migration) => [resourceKey(migration)]);
  const definitions = new DefinitionStatus(context);
  const { group, plural } = migrations.resource.definition;
  // Compat: written as `storagemigration.k8s.io/v1`, which is not the stored version.
  const served = catalog.find(group, "v1", plural) ?? migrations.resource;

  const setStatus = async (migration: Migration, status: Migration["status"]): Promise<void> => {
    await client.update(served, { ...migration, status }, { subresource: "status" });
  };
  const setConditions = (migration: Migration, ...changed: MigrationCondition[]): Promise<void> =>
    setStatus(migration, withConditions(migration, printTime(clock.now()), ...changed));

  /** The kind to migrate. Undefined after the migration has failed because there is none. */
  const definitionOf = async (migration: Migration): Promise<ResourceDefinition | undefined> => {
    const { group: wanted = "", resource = "" } = migration.spec?.resource ?? {};
    const found = catalog.definitions.find((one) => one.group === wanted && one.plural === resource);
    if (found) return found;
    if (Date.parse(migration.metadata.creationTimestamp ?? "") + PATIENCE_MS > clock.now()) throw new NotYet();
    await setConditions(migration, failed("resource does not exist in discovery"));
    return undefined;
  };

  /** Only objects that are older than this moment have to be written again. */
  const setCheckpoint = async (migration: Migration): Promise<void> => {
    const definition = await definitionOf(migration);
    if (!definition) return;
    if (!NEEDED_VERBS.every((verb) => definition.verbs.includes(verb))) {
      const gvr = `${definition.group}/${definition.versions[0]?.name}, Resource=${definition.plural}`;
      const message = `resource ${JSON.stringify(gvr)} does not support discovery operations: [${NEEDED_VERBS.join(" ")}]`;
      return setConditions(migration, failed(message));
    }
    await setStatus(migration, { ...migration.status, resourceVersion: String(await store.revision()) });
  };

  const migrate = async (migration: Migration): Promise<void> => {
    const definition = await definitionOf(migration);
    const resource =
      definition && catalog.find(definition.group, definition.versions[0]?.name ?? "", definition.plural);
    if (!resource) return;
    const { entries } = await store.list(keys.prefix(resource.definition));
    const limit = Number(migration.status?.resourceVersion);
    const old = entries.filter(({ modRevision }) => modRevision <= limit);
    const progress = (migrated: number): Progress => ({ left: old.length - migrated, total: entries.length });
    for (const [migrated, { key, modRevision }] of old.entries()) {
      const metadata = { resourceVersion: String(modRevision) };
      const patch = { kind: resource.definition.kind, apiVersion: resource.apiVersion, metadata };
      try {
        await client.patch(resource, keys.parse(resource.definition, key), patch);
      } catch (error) {
        // Another program has written or deleted it.
        if (isStatus(error, 404, 409)) continue;
        if (isTransient(error)) {
          await setConditions(migration, running(progress(migrated), messageOf(error)));
          throw error;
        }
        const { left, total } = progress(migrated);
        const message = `${left}/${total} not yet migrated. migration encountered unhandled error: ${messageOf(error)}`;
        return setConditions(migration, running(progress(migrated)), failed(message));
      }
    }
    await setConditions(migration, running(progress(old.length)), SUCCEEDED);
  };

  const finish = async (migration: Migration): Promise<void> => {
    await definitions.end(resourceKey(migration), hasSucceeded(migration));
    const { generation = 0 } = migration.metadata;
    const ended = { reason: "MigrationCompleted", message: "Migration completed", observedGeneration: generation };
    await setConditions(migration, { type: "Running", status: "False", ...ended });
  };

  const begin = async (migration: Migration): Promise<void> => {
    await definitions.begin(resourceKey(migration), migration.metadata.name ?? "");
    await setConditions(migration, running());
  };

  return loop({
    name: NAME,
    workers: 5,
    clock,
    report,
    sources: [
      source(migrations, (queue) => (before, after) => {
        const migration = after ?? before;
        if (migration) queue.add(resourceKey(migration));
      }),
    ],
    async sync(key) {
      const all = [...byResource.get(key)].sort(compareMigrations);
      for (const ended of all.filter((one) => isRunning(one) && isTerminal(one))) await finish(ended);
      const left = all.filter((one) => !isTerminal(one));
      const active = left.find(isRunning);
      if (active) return active.status?.resourceVersion ? migrate(active) : setCheckpoint(active);
      const [next] = left;
      if (next) await begin(next);
    },
  });
}

/** Whether a write may succeed later: it failed in the server or was throttled. */
const isTransient = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.code === 429 || error.code >= 500;
