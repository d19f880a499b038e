ip xfrm policy add dir out src 10.0.0.0/24 dst 10.0.1.0/24 priority 2000 tmpl src 0.0.0.0 dst 0.0.0.0 proto esp reqid 16 mode transport
ip xfrm policy add dir in src 10.0.1.0/24 dst 10.0.0.0/24 priority 0x7d0 tmpl proto esp reqid 16 mode transport level required
ip xfrm policy add dir fwd src 10.0.1.0/24 dst 10.0.0.0/24 priority 2000 tmpl proto esp reqid 16 mode transport level use
ip xfrm policy add dir out src 10.0.2.0/24 dst 10.0.3.0/24 action block
ip xfrm policy add dir out src 10.0.2.0/24 dst 10.0.4.0/24 action allow priority 1
ip xfrm policy add dir out src 10.0.2.0/24 dst 10.0.5.0/24 flag localok icmp priority 3
ip xfrm policy add dir out src 10.0.2.0/24 dst 10.0.6.0/24 flag icmp ptype main
ip xfrm policy add dir out src 10.0.2.0/24 dst 10.0.7.0/24 index 1001 priority 7
ip xfrm policy add dir out src 10.0.2.0/24 dst 10.0.8.0/24 flag 0x1
ip xfrm policy add tmpl level use proto esp spi 0x1234 src 10.9.9.1 dst 10.9.9.2 dir out dst 10.0.9.0/24 src 10.0.2.0/24 priority 9
ip xfrm policy list
ip -s xfrm policy list
ip xfrm policy get dir out src 10.0.2.0/24 dst 10.0.3.0/24
ip xfrm policy get dir out index 1001
ip -s xfrm policy get dir out index 1001
ip xfrm policy count
ip xfrm policy list dir in
ip xfrm policy list dir out priority 2000
ip xfrm policy list action block
ip xfrm policy list src 10.0.2.0/24
ip xfrm policy list src 10.0.0.0/16 dst 10.0.1.7
ip xfrm policy list flag icmp
ip xfrm policy list index 1001
ip xfrm policy list proto tcp
ip xfrm policy list dst 10.0.8.0/24 nosock
ip xfrm policy update dir out src 10.0.2.0/24 dst 10.0.3.0/24 action allow priority 33 tmpl proto esp reqid 8 mode transport
ip xfrm policy update dir out src 10.0.20.0/24 dst 10.0.30.0/24 action block
ip xfrm policy list dir out
ip xfrm policy delete dir out index 1001
ip xfrm policy delete dir out src 10.0.2.0/24 dst 10.0.8.0/24
ip xfrm policy deleteall dir out action block
ip xfrm policy list
ip xfrm policy add dir out src 10.0.2.0/24 dst 10.0.5.0/24
ip xfrm policy delete dir out src 10.99.0.0/24 dst 10.0.8.0/24
ip xfrm policy delete dir out index 8
ip xfrm policy get dir in src 10.99.0.0/24 dst 10.0.8.0/24
ip xfrm policy add dir out src 10.77.0.0/24 index 1000
ip xfrm policy add src 10.77.0.0/24
ip xfrm policy flush
ip xfrm policy count
ip xfrm policy list
