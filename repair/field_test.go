package repair_test

import "github.com/sessfix/sessfix/durable"

var disk = durable.Disk
