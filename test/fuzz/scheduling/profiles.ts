/** The names of the profiles of `PROFILES`. The default one comes first. */
export const SCHEDULER_NAMES: readonly string[] = ["default-scheduler", "packing", "spreading"];

/** A KubeSchedulerConfiguration with several profiles, whose Pods share nodes and queue. */
export const PROFILES = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  plugins:
    multiPoint:
      disabled: [{ name: ImageLocality }]
    score:
      disabled: [{ name: NodeAffinity }]
      enabled: [{ name: NodeAffinity, weight: 7 }]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{ name: cpu, weight: 1 }, { name: memory, weight: 3 }]
  - name: InterPodAffinity
    args: { hardPodAffinityWeight: 60 }
- schedulerName: spreading
  plugins:
    filter:
      disabled: [{ name: NodePorts }]
    postFilter:
      disabled: [{ name: "*" }]
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{ key: disk, operator: Exists }]
  - name: NodeResourcesFit
    args:
      ignoredResources: [example.com/gpu]
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{ name: cpu, weight: 2 }, { name: memory, weight: 1 }]
        requestedToCapacityRatio:
          shape: [{ utilization: 0, score: 0 }, { utilization: 60, score: 10 }, { utilization: 100, score: 3 }]
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - { maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway }
`;
