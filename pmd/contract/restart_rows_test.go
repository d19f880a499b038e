package contract_test

// restartRows are to be written.
var restartRows []row
