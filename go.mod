module github.com/sessfix/sessfix

go 1.26
