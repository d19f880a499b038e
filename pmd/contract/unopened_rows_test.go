package contract_test

// unopenedRows are to be written.
var unopenedRows []row
