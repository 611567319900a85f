import { storageClassOf } from "../../../../access/admission/plugins/storage-class-name.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { isStatus, messageOf } from "../../shared/controller.ts";
import { driverOf, migratedAnnotations } from "../../shared/csi-migration.ts";
import type { Informer } from "../../shared/informer.ts";
import type { StorageClass } from "../../shared/storage-class.ts";
import { BOUND_BY_CONTROLLER, PROVISIONED_BY, STORAGE_PROVISIONERS } from "../../shared/volume-facts.ts";
import { isInTree, pluginByName, type VolumePlugin } from "./plugins.ts";
import type { Writer } from "./writer.ts";

const FAILED = "ProvisioningFailed";
/** Keeps a volume until its plugin has deleted what it stands for. */
export const IN_TREE_FINALIZER = "kubernetes.io/pv-controller";

/** What `Provisioning` works with. */
export interface ProvisioningOptions {
  readonly client: ObjectClient;
  readonly writer: Writer;
  readonly volumes: Informer<PersistentVolume>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly classes: Informer<StorageClass>;
}

/** Creates volumes for claims, or asks external provisioners to. */
export class Provisioning {
  readonly #options: ProvisioningOptions;

  constructor(options: ProvisioningOptions) {
    this.#options = options;
  }

  /** Provisions a volume by the plugin of the claim's class. Failures are recorded as Events. */
  async provision(claim: PersistentVolumeClaim): Promise<void> {
    const { writer, classes } = this.#options;
    const className = storageClassOf(claim);
    const storageClass = classes.get(className);
    if (storageClass === undefined) {
      return writer.warn(claim, FAILED, `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`);
    }
    try {
      const plugin = provisionerOf(storageClass);
      if (plugin === undefined) await this.#waitForExternal(claim, storageClass);
      else await this.#create(claim, storageClass, plugin);
    } catch (error) {
      // The claim has changed, and is synced again.
      if (isStatus(error, 409)) throw error;
      writer.warn(claim, FAILED, messageOf(error));
    }
  }

  async #waitForExternal(claim: PersistentVolumeClaim, { provisioner }: StorageClass): Promise<void> {
    const name = driverOf(provisioner) ?? provisioner;
    const asked = await this.#ask(claim, name);
    const message = `Waiting for a volume to be created either by the external provisioner '${name}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
    this.#options.writer.note(asked, "ExternalProvisioning", message);
  }

  /** Names the provisioner on the claim, which an external provisioner waits for. */
  async #ask(claim: PersistentVolumeClaim, provisioner: string): Promise<PersistentVolumeClaim> {
    if (claim.metadata.annotations?.[STORAGE_PROVISIONERS[0]] === provisioner) return claim;
    const names = Object.fromEntries(STORAGE_PROVISIONERS.map((name) => [name, provisioner]));
    const metadata = { ...claim.metadata, annotations: { ...claim.metadata.annotations, ...names } };
    const annotations = migratedAnnotations(metadata, STORAGE_PROVISIONERS) ?? metadata.annotations;
    return this.#options.writer.updateClaim({ ...claim, metadata: { ...metadata, annotations } });
  }

  async #create(claim: PersistentVolumeClaim, storageClass: StorageClass, plugin: VolumePlugin): Promise<void> {
    const { client, writer, volumes, claims } = this.#options;
    const asked = await this.#ask(claim, storageClass.provisioner);
    const { name = "", namespace = "", uid = "", resourceVersion = "" } = asked.metadata;
    const volumeName = `pvc-${uid}`;
    if (volumes.get(volumeName)) return;
    const { apiVersion, definition } = claims.resource;
    const { reclaimPolicy = "Delete", mountOptions = [] } = storageClass;
    checkMountOptions(storageClass, plugin);
    const volume: PersistentVolume = {
      kind: volumes.resource.definition.kind,
      apiVersion: volumes.resource.apiVersion,
      metadata: {
        name: volumeName,
        annotations: { [BOUND_BY_CONTROLLER]: "yes", [PROVISIONED_BY]: plugin.name },
        ...(reclaimPolicy === "Delete" && { finalizers: [IN_TREE_FINALIZER] }),
      },
      spec: {
        ...plugin.provision?.(asked, storageClass),
        claimRef: { kind: definition.kind, namespace, name, uid, apiVersion, resourceVersion },
        persistentVolumeReclaimPolicy: reclaimPolicy,
        storageClassName: storageClassOf(asked),
        ...(mountOptions.length > 0 && { mountOptions }),
      },
    };
    const created = await client.create(volumes.resource, volume);
    writer.note(asked, "ProvisioningSucceeded", `Successfully provisioned volume ${volumeName} using ${plugin.name}`);
    await volumes.sees(created.metadata.resourceVersion);
  }
}

/** The plugin that provisions volumes of a class. Undefined if an external program does. */
function provisionerOf({ provisioner }: StorageClass): VolumePlugin | undefined {
  if (driverOf(provisioner) !== undefined) return undefined;
  try {
    const plugin = pluginByName(provisioner);
    if (plugin.provision === undefined) throw new Error("no provisionable volume plugin matched");
    return plugin;
  } catch (error) {
    if (isInTree(provisioner)) throw error;
    return undefined;
  }
}

function checkMountOptions({ metadata, mountOptions = [] }: StorageClass, plugin: VolumePlugin): void {
  if (plugin.supportsMountOptions || mountOptions.length === 0) return;
  const name = JSON.stringify(metadata.name);
  throw new Error(
    `Mount options are not supported by the provisioner but StorageClass ${name} has mount options [${mountOptions.join(" ")}]`,
  );
}
