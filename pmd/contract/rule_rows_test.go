package contract_test

// ruleRows are to be written.
var ruleRows []row
