// Prints the hashes that kube-controller-manager computes for Pod templates. Each line of the input is a case, each line of the output its answer.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	preservingjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/history"
	"k8s.io/utils/dump"
)

type question struct {
	Template       corev1.PodTemplateSpec `json:"template"`
	CollisionCount *int32                 `json:"collisionCount"`
	WantsText      bool                   `json:"wantsText"`
}

type answer struct {
	TemplateHash    string `json:"templateHash"`
	RevisionHash    string `json:"revisionHash"`
	RevisionName    string `json:"revisionName"`
	StatefulSetData string `json:"statefulSetData"`
	DaemonSetData   string `json:"daemonSetData"`
	Text            string `json:"text,omitempty"`
}

func main() {
	// The first use fills time.Local. kube-controller-manager has used it by the time it hashes, as every log line does.
	_ = time.Local.String()
	decoder := json.NewDecoder(os.Stdin)
	encoder := json.NewEncoder(os.Stdout)
	for {
		var asked question
		if err := decoder.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if err := encoder.Encode(answerTo(asked)); err != nil {
			log.Fatal(err)
		}
	}
}

func answerTo(asked question) answer {
	template := asReadByControllers(asked.Template)
	patch := statefulSetPatch(template)
	revision := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: patch}}
	hash := history.HashControllerRevision(revision, asked.CollisionCount)
	out := answer{
		TemplateHash:    controller.ComputeHash(&template, asked.CollisionCount),
		RevisionHash:    hash,
		RevisionName:    history.ControllerRevisionName("web", hash),
		StatefulSetData: string(patch),
		DaemonSetData:   string(daemonSetPatch(template)),
	}
	if asked.WantsText {
		out.Text = dump.ForHash(template)
	}
	return out
}

// Informers receive objects as protobuf.
func asReadByControllers(template corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	message, err := template.Marshal()
	if err != nil {
		log.Fatal(err)
	}
	var read corev1.PodTemplateSpec
	if err := read.Unmarshal(message); err != nil {
		log.Fatal(err)
	}
	return read
}

var patchCodec = scheme.Codecs.LegacyCodec(appsv1.SchemeGroupVersion)

// As getPatch of pkg/controller/statefulset.
func statefulSetPatch(template corev1.PodTemplateSpec) []byte {
	data, err := runtime.Encode(patchCodec, &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: template}})
	if err != nil {
		log.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(data, &raw); err != nil {
		log.Fatal(err)
	}
	return templatePatch(raw)
}

// As getPatch of pkg/controller/daemon, which preserves integers.
func daemonSetPatch(template corev1.PodTemplateSpec) []byte {
	data, err := preservingjson.Marshal(&appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: template}})
	if err != nil {
		log.Fatal(err)
	}
	var raw map[string]any
	if err := preservingjson.Unmarshal(data, &raw); err != nil {
		log.Fatal(err)
	}
	return templatePatch(raw)
}

func templatePatch(raw map[string]any) []byte {
	template := raw["spec"].(map[string]any)["template"].(map[string]any)
	template["$patch"] = "replace"
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	if err != nil {
		log.Fatal(err)
	}
	return patch
}
