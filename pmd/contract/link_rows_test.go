package contract_test

// linkRows are to be written.
var linkRows []row
