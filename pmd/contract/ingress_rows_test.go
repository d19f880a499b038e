package contract_test

// ingressRows are to be written.
var ingressRows []row
