package contract_test

// keyRows are to be written.
var keyRows []row
