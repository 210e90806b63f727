//go:build tools

// Package tools holds the version of what build.sh builds from this module.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
