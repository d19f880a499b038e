package contract_test

// egressRows are to be written.
var egressRows []row
