import type { KubeObject } from "../../../../base/api/object.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { Controller } from "../../shared/controller.ts";
import { type Informer, keyOf } from "../../shared/informer.ts";
import { loop, type Source, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { Protection } from "../../shared/protection.ts";

const isName = (name: string | undefined): name is string => name !== undefined && name !== "";

function classesOfClaim({ spec, status }: PersistentVolumeClaim): string[] {
  const target = status?.modifyVolumeStatus?.targetVolumeAttributesClassName;
  const names = [spec.volumeAttributesClassName, status?.currentVolumeAttributesClassName, target];
  return [...new Set(names.filter(isName))];
}

function classesOfVolume({ spec }: PersistentVolume): string[] {
  return [spec.volumeAttributesClassName].filter(isName);
}

/** volumeattributesclass-protection-controller: keeps deleted VolumeAttributesClasses until nothing refers to them. */
export function classProtection({ resources, client, informers, report }: ManagerContext): Controller {
  const { informer: classes } = informers.of<KubeObject>("storage.k8s.io", "volumeattributesclasses");
  const { informer: claims } = informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
  const { informer: volumes } = informers.of<PersistentVolume>("", "persistentvolumes");
  const byClass = [claims.index(classesOfClaim), volumes.index(classesOfVolume)];
  const protection = new Protection({ client, informer: classes, finalizer: "kubernetes.io/vac-protection" });

  const isUsed = (name: string): boolean => byClass.some((index) => index.has(name));

  /** Adds the classes that an object no longer refers to. */
  const users = <T extends KubeObject>(informer: Informer<T>, classesOf: (object: T) => string[]): Source =>
    source(informer, (queue) => (before, after) => {
      const kept = after ? classesOf(after) : [];
      for (const name of before ? classesOf(before) : []) if (!kept.includes(name)) queue.add(name);
    });

  return loop({
    name: "volumeattributesclass-protection-controller",
    workers: 1,
    clock: resources.clock,
    report,
    sources: [
      source(classes, (queue) => (_, after) => {
        if (after && protection.concerns(after)) queue.add(keyOf(after));
      }),
      users(claims, classesOfClaim),
      users(volumes, classesOfVolume),
    ],
    async sync(key) {
      const found = classes.get(key);
      if (found) await protection.sync(found, () => isUsed(key));
    },
  });
}
