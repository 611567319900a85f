import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
} from "../../../kinds/types/persistent-volume.ts";
import type { NodeSelectorTerm } from "../../../kinds/types/pod.ts";
import type { StorageClass, TopologySelectorTerm } from "./storage-class.ts";

/** The provisioner of StorageClasses whose volumes exist only as objects. It is a valid name of a CSI driver. */
export const SIMULATED = "simulated.binnacle.dev";

/** Whether a volume was provisioned without storage. */
export const isSimulated = ({ spec }: PersistentVolume): boolean => spec.csi?.driver === SIMULATED;

/** The spec of a volume that satisfies a claim, without any storage behind it. */
export function simulatedSpec(claim: PersistentVolumeClaim, storageClass: StorageClass): PersistentVolumeSpec {
  const { accessModes = [], resources, volumeMode, volumeAttributesClassName } = claim.spec;
  const { allowedTopologies = [] } = storageClass;
  return {
    accessModes,
    capacity: { storage: resources?.requests?.storage ?? "0" },
    csi: { driver: SIMULATED, volumeHandle: `pvc-${claim.metadata.uid}` },
    ...(volumeMode !== undefined && { volumeMode }),
    ...(volumeAttributesClassName !== undefined && { volumeAttributesClassName }),
    ...(allowedTopologies.length > 0 && {
      nodeAffinity: { required: { nodeSelectorTerms: allowedTopologies.map(nodeTerm) } },
    }),
  };
}

function nodeTerm({ matchLabelExpressions = [] }: TopologySelectorTerm): NodeSelectorTerm {
  return { matchExpressions: matchLabelExpressions.map(({ key, values }) => ({ key, operator: "In", values })) };
}
