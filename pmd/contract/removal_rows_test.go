package contract_test

// removalRows are to be written.
var removalRows []row
