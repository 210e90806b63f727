#include "federation/volcano_schema.h"

#include <string>

namespace caldera {
namespace {

constexpr std::string_view kPodSchema = R"(
TemplateMeta: annotations {string}; finalizers [string]; labels {string}; name string;
  namespace string
MatchExpression: key! string; operator! string; values [string]
NodeSelectorTerm: matchExpressions [MatchExpression]; matchFields [MatchExpression]
PreferredNodeTerm: preference! NodeSelectorTerm; weight! int32
NodeSelector: nodeSelectorTerms! [NodeSelectorTerm]
NodeAffinity: preferredDuringSchedulingIgnoredDuringExecution [PreferredNodeTerm];
  requiredDuringSchedulingIgnoredDuringExecution NodeSelector
LabelSelector: matchExpressions [MatchExpression]; matchLabels {string}
PodAffinityTerm: labelSelector LabelSelector; matchLabelKeys [string]; mismatchLabelKeys [string];
  namespaceSelector LabelSelector; namespaces [string]; topologyKey! string
PreferredPodTerm: podAffinityTerm! PodAffinityTerm; weight! int32
PodAffinity: preferredDuringSchedulingIgnoredDuringExecution [PreferredPodTerm];
  requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm]
Affinity: nodeAffinity NodeAffinity; podAffinity PodAffinity; podAntiAffinity PodAffinity
KeyRef: key! string; name string default=; optional bool
FieldRef: apiVersion string; fieldPath! string
FileKeyRef: key! string; optional bool default=false; path! string; volumeName! string
ResourceFieldRef: containerName string; divisor quantity; resource! string
ValueFrom: configMapKeyRef KeyRef; fieldRef FieldRef; fileKeyRef FileKeyRef;
  resourceFieldRef ResourceFieldRef; secretKeyRef KeyRef
EnvVar: name! string; value string; valueFrom ValueFrom
EnvSourceRef: name string default=; optional bool
EnvFrom: configMapRef EnvSourceRef; prefix string; secretRef EnvSourceRef
ExecAction: command [string]
NameValue: name! string; value! string
HttpGetAction: host string; httpHeaders [NameValue]; path string; port! int-or-string;
  scheme string
SleepAction: seconds! int64
TcpSocketAction: host string; port! int-or-string
LifecycleHandler: exec ExecAction; httpGet HttpGetAction; sleep SleepAction;
  tcpSocket TcpSocketAction
Lifecycle: postStart LifecycleHandler; preStop LifecycleHandler; stopSignal string
GrpcAction: port! int32; service string default=
Probe: exec ExecAction; failureThreshold int32; grpc GrpcAction; httpGet HttpGetAction;
  initialDelaySeconds int32; periodSeconds int32; successThreshold int32;
  tcpSocket TcpSocketAction; terminationGracePeriodSeconds int64; timeoutSeconds int32
ContainerPort: containerPort! int32; hostIP string; hostPort int32; name string;
  protocol string default=TCP
ResizePolicy: resourceName! string; restartPolicy! string
ResourceClaimRef: name! string; request string
Resources: claims [ResourceClaimRef] keys=name; limits {quantity}; requests {quantity}
RestartExitCodes: operator! string omitted; values [int32] set
RestartRule: action! string omitted; exitCodes RestartExitCodes
SecurityProfile: localhostProfile string; type! string
Capabilities: add [string]; drop [string]
SeLinuxOptions: level string; role string; type string; user string
WindowsOptions: gmsaCredentialSpec string; gmsaCredentialSpecName string; hostProcess bool;
  runAsUserName string
SecurityContext: allowPrivilegeEscalation bool; appArmorProfile SecurityProfile;
  capabilities Capabilities; privileged bool; procMount string; readOnlyRootFilesystem bool;
  runAsGroup int64; runAsNonRoot bool; runAsUser int64; seLinuxOptions SeLinuxOptions;
  seccompProfile SecurityProfile; windowsOptions WindowsOptions
VolumeDevice: devicePath! string; name! string
VolumeMount: mountPath! string; mountPropagation string; name! string; readOnly bool;
  recursiveReadOnly string; subPath string; subPathExpr string
Container: args [string]; command [string]; env [EnvVar] keys=name; envFrom [EnvFrom];
  image string; imagePullPolicy string; lifecycle Lifecycle; livenessProbe Probe; name! string;
  ports [ContainerPort] keys=containerPort,protocol; readinessProbe Probe;
  resizePolicy [ResizePolicy]; resources Resources; restartPolicy string;
  restartPolicyRules [RestartRule]; securityContext SecurityContext; startupProbe Probe;
  stdin bool; stdinOnce bool; terminationMessagePath string; terminationMessagePolicy string;
  tty bool; volumeDevices [VolumeDevice] keys=devicePath;
  volumeMounts [VolumeMount] keys=mountPath; workingDir string
DnsOption: name string; value string
DnsConfig: nameservers [string]; options [DnsOption]; searches [string]
EphemeralContainer: args [string]; command [string]; env [EnvVar] keys=name; envFrom [EnvFrom];
  image string; imagePullPolicy string; lifecycle Lifecycle; livenessProbe Probe; name! string;
  ports [ContainerPort] keys=containerPort,protocol; readinessProbe Probe;
  resizePolicy [ResizePolicy]; resources Resources; restartPolicy string;
  restartPolicyRules [RestartRule]; securityContext SecurityContext; startupProbe Probe;
  stdin bool; stdinOnce bool; targetContainerName string; terminationMessagePath string;
  terminationMessagePolicy string; tty bool; volumeDevices [VolumeDevice] keys=devicePath;
  volumeMounts [VolumeMount] keys=mountPath; workingDir string
HostAlias: hostnames [string]; ip! string
LocalRef: name string default=
NameOnly: name! string
ReadinessGate: conditionType! string
ResourceClaim: name! string; resourceClaimName string; resourceClaimTemplateName string
SchedulingGroup: podGroupName string
PodSecurityContext: appArmorProfile SecurityProfile; fsGroup int64; fsGroupChangePolicy string;
  runAsGroup int64; runAsNonRoot bool; runAsUser int64; seLinuxChangePolicy string;
  seLinuxOptions SeLinuxOptions; seccompProfile SecurityProfile; supplementalGroups [int64];
  supplementalGroupsPolicy string; sysctls [NameValue]; windowsOptions WindowsOptions
Toleration: effect string; key string; operator string; tolerationSeconds int64; value string
TopologySpreadConstraint: labelSelector LabelSelector; matchLabelKeys [string]; maxSkew! int32;
  minDomains int32; nodeAffinityPolicy string; nodeTaintsPolicy string; topologyKey! string;
  whenUnsatisfiable! string
)";

constexpr std::string_view kVolumeSchema = R"(
AwsElasticBlockStore: fsType string; partition int32; readOnly bool; volumeID! string
AzureDisk: cachingMode string; diskName! string; diskURI! string; fsType string default=ext4;
  kind string; readOnly bool default=false
AzureFile: readOnly bool; secretName! string; shareName! string
Cephfs: monitors! [string]; path string; readOnly bool; secretFile string; secretRef LocalRef;
  user string
Cinder: fsType string; readOnly bool; secretRef LocalRef; volumeID! string
KeyToPath: key! string; mode int32; path! string
ConfigMapSource: defaultMode int32; items [KeyToPath]; name string default=; optional bool
Csi: driver! string; fsType string; nodePublishSecretRef LocalRef; readOnly bool;
  volumeAttributes {string}
DownwardFile: fieldRef FieldRef; mode int32; path! string; resourceFieldRef ResourceFieldRef
DownwardSource: defaultMode int32; items [DownwardFile]
EmptyDir: medium string; sizeLimit quantity
DataSource: apiGroup string; kind! string; name! string
DataSourceRef: apiGroup string; kind! string; name! string; namespace string
ClaimResources: limits {quantity}; requests {quantity}
ClaimSpec: accessModes [string]; dataSource DataSource; dataSourceRef DataSourceRef;
  resources ClaimResources; selector LabelSelector; storageClassName string;
  volumeAttributesClassName string; volumeMode string; volumeName string
VolumeClaimTemplate: metadata TemplateMeta; spec! ClaimSpec
Ephemeral: volumeClaimTemplate VolumeClaimTemplate
Fc: fsType string; lun int32; readOnly bool; targetWWNs [string]; wwids [string]
FlexVolume: driver! string; fsType string; options {string}; readOnly bool; secretRef LocalRef
Flocker: datasetName string; datasetUUID string
GcePersistentDisk: fsType string; partition int32; pdName! string; readOnly bool
GitRepo: directory string; repository! string; revision string
Glusterfs: endpoints! string; path! string; readOnly bool
HostPath: path! string; type string
Image: pullPolicy string; reference string
Iscsi: chapAuthDiscovery bool; chapAuthSession bool; fsType string; initiatorName string;
  iqn! string; iscsiInterface string default=default; lun! int32; portals [string]; readOnly bool;
  secretRef LocalRef; targetPortal! string
Nfs: path! string; readOnly bool; server! string
PersistentVolumeClaim: claimName! string; readOnly bool
PhotonPersistentDisk: fsType string; pdID! string
PortworxVolume: fsType string; readOnly bool; volumeID! string
ClusterTrustBundle: labelSelector LabelSelector; name string; optional bool; path! string;
  signerName string
ProjectedKeys: items [KeyToPath]; name string default=; optional bool
ProjectedDownward: items [DownwardFile]
PodCertificate: certificateChainPath string; credentialBundlePath string; keyPath string;
  keyType! string; maxExpirationSeconds int32; signerName! string; userAnnotations {string}
ServiceAccountToken: audience string; expirationSeconds int64; path! string
ProjectedSource: clusterTrustBundle ClusterTrustBundle; configMap ProjectedKeys;
  downwardAPI ProjectedDownward; podCertificate PodCertificate; secret ProjectedKeys;
  serviceAccountToken ServiceAccountToken
Projected: defaultMode int32; sources [ProjectedSource] nulled
Quobyte: group string; readOnly bool; registry! string; tenant string; user string; volume! string
Rbd: fsType string; image! string; keyring string default=/etc/ceph/keyring; monitors! [string];
  pool string default=rbd; readOnly bool; secretRef LocalRef; user string default=admin
ScaleIO: fsType string default=xfs; gateway! string; protectionDomain string; readOnly bool;
  secretRef! LocalRef omitted; sslEnabled bool; storageMode string default=ThinProvisioned;
  storagePool string; system! string; volumeName string
SecretSource: defaultMode int32; items [KeyToPath]; optional bool; secretName string
Storageos: fsType string; readOnly bool; secretRef LocalRef; volumeName string;
  volumeNamespace string
VsphereVolume: fsType string; storagePolicyID string; storagePolicyName string; volumePath! string
Volume: awsElasticBlockStore AwsElasticBlockStore; azureDisk AzureDisk; azureFile AzureFile;
  cephfs Cephfs; cinder Cinder; configMap ConfigMapSource; csi Csi; downwardAPI DownwardSource;
  emptyDir EmptyDir; ephemeral Ephemeral; fc Fc; flexVolume FlexVolume; flocker Flocker;
  gcePersistentDisk GcePersistentDisk; gitRepo GitRepo; glusterfs Glusterfs; hostPath HostPath;
  image Image; iscsi Iscsi; name! string; nfs Nfs; persistentVolumeClaim PersistentVolumeClaim;
  photonPersistentDisk PhotonPersistentDisk; portworxVolume PortworxVolume; projected Projected;
  quobyte Quobyte; rbd Rbd; scaleIO ScaleIO; secret SecretSource; storageos Storageos;
  vsphereVolume VsphereVolume
PodSpec: activeDeadlineSeconds int64; affinity Affinity; automountServiceAccountToken bool;
  containers! [Container] keys=name; dnsConfig DnsConfig; dnsPolicy string;
  enableServiceLinks bool; ephemeralContainers [EphemeralContainer] keys=name;
  hostAliases [HostAlias] keys=ip; hostIPC bool; hostNetwork bool; hostPID bool; hostUsers bool;
  hostname string; hostnameOverride string; imagePullSecrets [LocalRef] keys=name;
  initContainers [Container] keys=name; nodeName string; nodeSelector {string}; os NameOnly;
  overhead {quantity}; preemptionPolicy string; priority int32; priorityClassName string;
  readinessGates [ReadinessGate]; resourceClaims [ResourceClaim] keys=name; resources Resources;
  restartPolicy string; runtimeClassName string; schedulerName string;
  schedulingGates [NameOnly] keys=name; schedulingGroup SchedulingGroup;
  securityContext PodSecurityContext; serviceAccount string; serviceAccountName string;
  setHostnameAsFQDN bool; shareProcessNamespace bool; subdomain string;
  terminationGracePeriodSeconds int64; tolerations [Toleration];
  topologySpreadConstraints [TopologySpreadConstraint] keys=topologyKey,whenUnsatisfiable;
  volumes [Volume] keys=name
PodTemplate: metadata TemplateMeta; spec PodSpec
)";

constexpr std::string_view kJobSchema = R"(
NetworkTopology: highestTierAllowed int min=0; highestTierName string len<=253;
  mode string enum=hard|soft default=hard
LifecyclePolicy: action string;
  event string enum=*|PodPending|PodRunning|PodFailed|PodEvicted|Unknown|
    TaskCompleted|OutOfSync|CommandIssued|JobUpdated|TaskFailed;
  events [string enum=*|PodPending|PodRunning|PodFailed|PodEvicted|Unknown|
    TaskCompleted|OutOfSync|CommandIssued|JobUpdated|TaskFailed];
  exitCode int32; timeout duration
DependsOn: iteration string; name [string]
PartitionPolicy: minPartitions int32 min=0 default=0; networkTopology NetworkTopology;
  partitionSize! int32 min=1; totalPartitions! int32 min=1
TaskSpec: dependsOn DependsOn; maxRetry int32 min=0; minAvailable int32 min=0;
  name string len<=63 re=label; partitionPolicy PartitionPolicy; policies [LifecyclePolicy];
  replicas int32 min=0; template PodTemplate;
  topologyPolicy string enum=none|best-effort|restricted|single-numa-node
JobVolume: mountPath! string len>=1 re=no-colon; volumeClaim ClaimSpec;
  volumeClaimName string len<=253
JobSpec: maxRetry int32 min=0 default=3; minAvailable int32 min=0; minSuccess int32 min=1;
  networkTopology NetworkTopology; plugins {[string]} rewritten-always; policies [LifecyclePolicy];
  priorityClassName string len<=253 re=subdomain;
  queue string len<=253 re=subdomain default=default; runningEstimate duration;
  schedulerName string len<=63; tasks [TaskSpec] items>=1 rewritten;
  ttlSecondsAfterFinished int32 min=0; volumes [JobVolume]
)";

// Of an object's metadata what the API server decodes strictly; name, namespace, labels and
// annotations are read by intake itself.
constexpr std::string_view kMetaSchema = R"(
OwnerReference: apiVersion string; blockOwnerDeletion bool; controller bool; kind string;
  name string; uid string
ObjectMeta: annotations any; creationTimestamp any; deletionGracePeriodSeconds int64;
  deletionTimestamp any; finalizers [string]; generateName string; generation int64 min=0;
  labels any; managedFields [any]; name any; namespace any; ownerReferences [OwnerReference];
  resourceVersion string; selfLink string; uid any
)";

constexpr std::string_view kHyperJobSchema = R"(
SplitPolicy: acceleratorType string; accelerators int; mode string enum=static|auto
ReplicatedJob: clusterNames [string]; name! string; replicas int32 default=1;
  splitPolicy SplitPolicy; templateSpec! JobSpec rewritten
HyperJobSpec: maxDomains int32; minAvailable int32; plugins {[string]};
  replicatedJobs [ReplicatedJob] keys=name
)";

}  // namespace

const Schema& VolcanoSchema() {
  static const Schema kSchema(std::string(kPodSchema) + std::string(kVolumeSchema) +
                              std::string(kJobSchema) + std::string(kHyperJobSchema) +
                              std::string(kMetaSchema));
  return kSchema;
}

}  // namespace caldera
