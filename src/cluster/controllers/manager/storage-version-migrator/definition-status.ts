import type { CustomResourceDefinition } from "../../../../kinds/types/custom-resource-definition.ts";
import { storedResource } from "../../../../resources/model/stored-resource.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { readFresh } from "../../shared/fresh.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";

const FIELD_MANAGER = "migration-runner-controller";
const TYPE = "StorageMigrating";

/** Reports migrations in the status of the CustomResourceDefinition of the migrated kind, if it is a custom one. */
export class DefinitionStatus {
  readonly #context: ManagerContext;

  constructor(context: ManagerContext) {
    this.#context = context;
  }

  /** Sets the condition StorageMigrating while a migration runs. */
  async begin(definition: string, migration: string): Promise<void> {
    const crd = await this.#find(definition);
    if (crd) await this.#apply(crd, "True", "MigrationRunning", `Migration ${migration} is running`);
  }

  /** Removes old versions from `status.storedVersions`, unless the definition has changed during the migration. */
  async end(definition: string, hasSucceeded: boolean): Promise<void> {
    const crd = await this.#find(definition);
    if (!crd) return;
    const condition = (crd.status?.conditions ?? []).find(({ type }) => type === TYPE);
    const isUnchanged = condition !== undefined && condition.observedGeneration === crd.metadata.generation;
    const updated = isUnchanged
      ? " and the stored versions have been updated"
      : " but the stored versions have not been updated due to a generation mismatch";
    const message = hasSucceeded ? `The migration has succeeded${updated}` : "The migration has failed";
    const reason = hasSucceeded ? "MigrationSucceeded" : "MigrationFailed";
    const stored = crd.spec?.versions?.find(({ storage }) => storage)?.name;
    await this.#apply(crd, "False", reason, message, isUnchanged && stored !== undefined ? [stored] : undefined);
  }

  async #find(name: string): Promise<CustomResourceDefinition | undefined> {
    return readFresh(this.#context.resources, this.#resource, { metadata: { name } });
  }

  get #resource() {
    return storedResource(this.#context.resources.catalog, "apiextensions.k8s.io", "customresourcedefinitions");
  }

  async #apply(
    { metadata }: CustomResourceDefinition,
    status: string,
    reason: string,
    message: string,
    storedVersions?: string[],
  ): Promise<void> {
    const { resources, client } = this.#context;
    const { name, resourceVersion, generation = 0 } = metadata;
    const lastTransitionTime = printTime(resources.clock.now());
    const condition = { type: TYPE, status, reason, message, lastTransitionTime, observedGeneration: generation };
    const applied = {
      kind: this.#resource.definition.kind,
      apiVersion: this.#resource.apiVersion,
      // The version: `observedGeneration` must be that of the definition whose versions count.
      metadata: { name, resourceVersion },
      status: { conditions: [condition], ...(storedVersions && { storedVersions }) },
    };
    await client.apply(this.#resource, applied, { fieldManager: FIELD_MANAGER, subresource: "status" });
  }
}
