package contract_test

// tableRows are to be written.
var tableRows []row
