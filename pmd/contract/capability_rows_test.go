package contract_test

// capabilityRows are to be written.
var capabilityRows []row
